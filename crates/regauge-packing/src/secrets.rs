//! The cryptography of signed and encrypted values: RustCrypto's.

use aes_gcm::aead::{Aead as _, KeyInit as _};
use aes_gcm::aes::Aes256;
use aes_gcm::{Aes256Gcm, Nonce};
use cbc::cipher::block_padding::Pkcs7;
use cbc::cipher::{BlockModeDecrypt as _, KeyIvInit as _};
use hmac::{Hmac, Mac as _};
use regauge::envelope::{Ciphers, Hash};
use sha1::Sha1;
use sha2::{Digest as _, Sha256, Sha384, Sha512};

/// Checks signatures and decrypts.
#[derive(Clone, Copy, Debug, Default)]
pub struct Secrets;

/// Evaluates an expression with `$H` as the type of a hash function.
macro_rules! with {
    ($hash:expr, $H:ident => $does:expr) => {
        match $hash {
            Hash::Sha1 => {
                type $H = Sha1;
                $does
            }
            Hash::Sha256 => {
                type $H = Sha256;
                $does
            }
            Hash::Sha384 => {
                type $H = Sha384;
                $does
            }
            Hash::Sha512 => {
                type $H = Sha512;
                $does
            }
        }
    };
}

/// Returns the HMAC of a message, not yet finished.
macro_rules! mac {
    ($H:ident, $key:expr, $message:expr) => {{
        // A key of any length is one.
        let mut mac = <Hmac<$H>>::new_from_slice($key).expect("HMAC takes keys of any length");
        mac.update($message);
        mac
    }};
}

impl Ciphers for Secrets {
    fn hash(&self, hash: Hash, parts: &[&[u8]]) -> Vec<u8> {
        with!(hash, H => {
            let mut digest = H::new();
            parts.iter().for_each(|part| digest.update(part));
            digest.finalize().to_vec()
        })
    }

    fn hmac(&self, hash: Hash, key: &[u8], message: &[u8]) -> Vec<u8> {
        with!(hash, H => mac!(H, key, message).finalize().into_bytes().to_vec())
    }

    fn is_hmac(&self, hash: Hash, key: &[u8], message: &[u8], signature: &[u8]) -> bool {
        // `verify_slice` compares in constant time.
        with!(hash, H => mac!(H, key, message).verify_slice(signature).is_ok())
    }

    fn pbkdf2(&self, hash: Hash, secret: &[u8], salt: &[u8], rounds: u32, bytes: usize) -> Vec<u8> {
        let mut key = vec![0; bytes];
        with!(hash, H => pbkdf2::pbkdf2_hmac::<H>(secret, salt, rounds, &mut key));
        key
    }

    fn decrypt(
        &self,
        key: &[u8; 32],
        vector: &[u8; 12],
        data: &[u8],
        tag: &[u8; 16],
    ) -> Option<Vec<u8>> {
        let sealed = [data, tag].concat();
        Aes256Gcm::new(key.into()).decrypt(&Nonce::from(*vector), sealed.as_slice()).ok()
    }

    fn decrypt_cbc(&self, key: &[u8; 32], vector: &[u8; 16], data: &[u8]) -> Option<Vec<u8>> {
        let mut bytes = data.to_vec();
        let cipher = cbc::Decryptor::<Aes256>::new(key.into(), vector.into());
        let length = cipher.decrypt_padded::<Pkcs7>(&mut bytes).ok()?.len();
        bytes.truncate(length);
        Some(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hex(bytes: &[u8]) -> String {
        bytes.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    fn unhex<const N: usize>(text: &str) -> [u8; N] {
        let digit = |at: usize| u8::from_str_radix(&text[2 * at..2 * at + 2], 16).unwrap();
        std::array::from_fn(digit)
    }

    /// FIPS 180-4's "abc", RFC 2202 and RFC 4231 (test case 2), RFC 6070.
    #[test]
    fn published_hashes() {
        assert_eq!(
            hex(&Secrets.hash(Hash::Sha1, &[b"a", b"", b"bc"])),
            "a9993e364706816aba3e25717850c26c9cd0d89d"
        );
        assert_eq!(Secrets.hash(Hash::Sha384, &[]).len(), 48);
        for (hash, expected) in [
            (Hash::Sha1, "effcdf6ae5eb2fa2d27416d5f184df9c259a7c79"),
            (Hash::Sha256, "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"),
            (
                Hash::Sha512,
                "164b7a7bfcf819e2e395fbe73b56e0a387bd64222e831fd610270cd7ea2505549758bf75c05a994a6d034f65f8f0e6fdcae\
                 ab1a34d4a6b4b636e070a38bce737",
            ),
        ] {
            let (key, message) = (b"Jefe", b"what do ya want for nothing?");
            let made = Secrets.hmac(hash, key, message);
            assert_eq!(hex(&made), expected, "{hash:?}");
            assert!(Secrets.is_hmac(hash, key, message, &made));
            assert!(!Secrets.is_hmac(hash, b"jefe", message, &made));
            assert!(!Secrets.is_hmac(hash, key, message, &made[1..]));
            for at in 0..made.len() {
                let mut wrong = made.clone();
                wrong[at] ^= 1;
                assert!(!Secrets.is_hmac(hash, key, message, &wrong), "{hash:?} {at}");
            }
        }
        assert_eq!(
            hex(&Secrets.pbkdf2(Hash::Sha1, b"password", b"salt", 4096, 20)),
            "4b007901b765489abead49d926f721d065a429c1"
        );
    }

    /// Test case 14 of the specification of GCM (McGrew and Viega): a block of zeros under a key of zeros.
    #[test]
    fn published_encryption() {
        let data: [u8; 16] = unhex("cea7403d4d606b6e074ec5d3baf39d18");
        let tag: [u8; 16] = unhex("d0d1c8a799996bf0265b98b5d48ab919");
        assert_eq!(Secrets.decrypt(&[0; 32], &[0; 12], &data, &tag), Some(vec![0; 16]));
        assert_eq!(Secrets.decrypt(&[1; 32], &[0; 12], &data, &tag), None);
        assert_eq!(Secrets.decrypt(&[0; 32], &[0; 12], &data[1..], &tag), None);
        assert_eq!(Secrets.decrypt(&[0; 32], &[0; 12], &data, &[0; 16]), None);
    }

    /// The first block of NIST SP 800-38A, F.2.6, whose last byte is no padding; and what OpenSSL makes of the block that it
    /// is, with padding.
    #[test]
    fn published_blocks() {
        let key = unhex("603deb1015ca71be2b73aef0857d77811f352c073b6108d72d9810a30914dff4");
        let vector = unhex("000102030405060708090a0b0c0d0e0f");
        let block: [u8; 16] = unhex("f58c4c04d6e5f1ba779eabfb5f7bfbd6");
        assert_eq!(Secrets.decrypt_cbc(&key, &vector, &block), None);
        let padded: [u8; 32] =
            unhex("f58c4c04d6e5f1ba779eabfb5f7bfbd6485a5c81519cf378fa36d42b8547edc0");
        let plain: [u8; 16] = unhex("6bc1bee22e409f96e93d7e117393172a");
        assert_eq!(padded[..16], block);
        assert_eq!(Secrets.decrypt_cbc(&key, &vector, &padded), Some(plain.to_vec()));
        assert_eq!(Secrets.decrypt_cbc(&[1; 32], &vector, &padded), None);
        for end in [0, 1, 15, 17, 31] {
            assert_eq!(Secrets.decrypt_cbc(&key, &vector, &padded[..end]), None, "{end}");
        }
    }
}
