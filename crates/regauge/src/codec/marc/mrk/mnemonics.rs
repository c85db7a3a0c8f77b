//! The mnemonics: names in curly brackets for characters of MARC-8.
//!
//! The table is the Library of Congress's, "Text-to-MARC 21 character conversion table for MARCMaker
//! version 2.5" of October 7, 2003; the names for writing are those of "MARC21-to-text character
//! conversion table for MARCBreaker version 2.5" of July 3, 2002.

use std::collections::HashMap;
use std::sync::LazyLock;

/// The longest name: `softsign`.
const NAME_BYTES_MAX: usize = 8;

/// The names with the bytes of MARC-8 that they stand for. A letter or a digit also stands for itself, and
/// two hexadecimal digits for the byte of that number.
///
/// `Ecy` is the letter with a dot that its row describes, as in `ecy`; the published row has a D.
const TABLE: &str = "
AElig=A5 Aacute=E241 Abreve=E641 Acirc=E341 Acy=41 Agrave=E141 Aogon=F141 Aring=EA41 Atilde=E441
Auml=E841 Bcy=42 CHcy=4368 Cacute=E243 Ccaron=E943 Ccedil=F043 DJEcy=A3 DZEcy=447A DZHEcy=44E97A
Dagger=7C Dcaron=E944 Dcy=44 Dstrok=A3 ETH=A3 Eacute=E245 Ecaron=E945 Ecirc=E345 Ecy=E745 Egrave=E145
Ehookr=F145 Eogon=F145 Euml=E845 Fcy=46 GEcy=47 GHcy=47 GJEcy=E247 Gcy=47 HARDcy=B7 Hcy=48 IEcy=EB49EC45
IJlig=494A IOcy=EB49EC4F IYcy=59 Iacute=E249 Icaron=E949 Icirc=E349 Icy=49 Idot=E749 Igrave=E149
Iuml=E849 Iumlcy=E849 JEcy=4A JIcy=E849 Jcy=E649 KHcy=4B68 KJEcy=E24B Kcy=4B LJEcy=4C6A Lacute=E24C
Lcy=4C Lstrok=A1 Mcy=4D NJEcy=4E6A Nacute=E24E Ncaron=E94E Ncy=4E No=4E6F2E Ntilde=E44E OElig=A6
Oacute=E24F Ocirc=E34F Ocy=4F Odblac=EE4F Ograve=E14F Ohorn=AC Ostrok=A2 Otilde=E44F Ouml=E84F Pcy=50
Racute=E252 Rcaron=E952 Rcy=52 SHCHcy=53686368 SHcy=5368 SOFTcy=A7 Sacute=E253 Scommab=F753 Scy=53
THORN=A4 TSHEcy=E243 TScy=EB54EC53 Tcaron=E954 Tcommab=F754 Tcy=54 Uacute=E255 Ubrevecy=E655 Ucirc=E355
Ucy=55 Udblac=EE55 Ugrave=E155 Uhorn=AD Uring=EA55 Uuml=E855 Vcy=56 YAcy=EB49EC41 YEcy=45 YIcy=49
YUcy=EB49EC55 Yacute=E259 Ycy=59 ZHcy=5A68 ZHuacy=EB5AEC68 Zacute=E25A Zcy=5A Zdot=E75A aacute=E261
abreve=E661 acirc=E361 acute=E2 acy=61 aelig=B5 agr=61 agrave=E161 alif=AE amp=26 aogon=F161 apos=27
arab=2833 aring=EA61 ast=2A asuper=61 atilde=E461 auml=E861 ayn=B0 bcy=62 bgr=62 breve=E6 breveb=F9
brvbar=7C bsol=5C bull=2A cacute=E263 candra=EF caron=E9 ccaron=E963 ccedil=F063 cedil=F0 cent=63
chcy=6368 circ=E3 circb=F4 cjk=2431 colon=3A comma=2C commaa=FE commab=F7 commat=40 copy=C3 curren=2A
cyril=284E dagger=7C dblac=EE dbldotb=F3 dblunder=F5 dcaron=E964 dcy=64 deg=C0 diaer=E8 divide=2F
djecy=B3 dollar=24 dot=E7 dotb=F2 dstrok=B3 dzecy=647A dzhecy=64E97A ea=EA eacute=E265 ecaron=E965
ecirc=E365 ecy=E765 egrave=E165 ehookr=F165 eogon=F165 equals=3D esc=1B eth=BA euml=E865 excl=21 fcy=66
flat=A9 fnof=66 frac12=312F32 frac14=312F34 frac34=332F34 gcy=67 gecy=67 ggr=67 ghcy=67 gjecy=E267
grave=E1 greek=67 gs=1D gt=3E hardcy=B7 hardsign=B7 hcy=68 hebrew=2832 hellip=2E2E2E hooka=E0 hookl=F7
hookr=F1 hyphen=2D iacute=E269 icaron=E969 icirc=E369 icy=69 iecy=EB69EC65 iexcl=C6 igrave=E169
ijlig=696A inodot=B8 iocy=EB69EC6F iquest=C5 iuml=E869 iumlcy=E869 iycy=79 jcy=E669 jecy=6A jicy=E869
joiner=8D kcy=6B khcy=6B68 kjecy=E26B lacute=E26C laquo=22 latin=2842 lcub=7B lcy=6C ldbltil=FA ldquo=22
ljecy=6C6A llig=EB lpar=28 lsqb=5B lsquo=27 lsquor=27 lstrok=B1 lt=3C macr=E5 mcy=6D mdash=2D2D
middot=A8 mlPrime=B7 mllhring=B0 mlprime=A7 mlrhring=AE nacute=E26E ncaron=E96E ncy=6E ndash=2D2D
njecy=6E6A nonjoin=8E ntilde=E46E num=23 oacute=E26F ocirc=E36F ocy=6F odblac=EE6F oelig=B6 ogon=F1
ograve=E16F ohorn=BC ordf=61 ordm=6F ostrok=B2 osuper=6F otilde=E46F ouml=E86F para=7C pcy=70 percnt=25
period=2E phono=C2 pipe=7C plus=2B plusmn=AB pound=B9 quest=3F quot=22 racute=E272 raquo=22 rcaron=E972
rcedil=F8 rcommaa=ED rcub=7D rcy=72 rdbltil=FB rdquofh=22 rdquor=22 reg=AA ring=EA ringb=F4 rlig=EC
rpar=29 rs=1E rsqb=5D rsquo=27 rsquor=27 sacute=E273 scommab=F773 scriptl=C1 scy=73 sect=7C semi=3B
sharp=C4 shchcy=73686368 shcy=7368 shy=2D softcy=A7 softsign=A7 sol=2F space=20 spcirc=5E spgrave=60
sptilde=7E spundscr=5F squf=7C sub=62 sup1=1B70311B73 sup2=1B70321B73 sup3=1B70331B73 super=70
szlig=7373 tcaron=E974 tcommab=F774 tcy=74 thorn=B4 tilde=E4 times=78 trade=28546D29 tscy=EB74EC73
tshecy=E263 uacute=E275 ubrevecy=E675 ucirc=E375 ucy=75 udblac=EE75 ugrave=E175 uhorn=BD uml=E8 under=F6
uring=EA75 us=1F uuml=E875 vcy=76 verbar=7C vlineb=F2 yacute=E279 yacy=EB69EC61 ycy=79 yecy=65 yen=59
yicy=69 yucy=EB69EC75 zacute=E27A zcy=7A zdot=E77A zhcy=7A68 zhuacy=EB7AEC68
";

/// The names of bytes from 0x80 up when they are written. A byte without one is written as its number.
const WRITTEN: &str = "
8D=joiner 8E=nonjoin A1=Lstrok A2=Ostrok A3=Dstrok A4=THORN A5=AElig A6=OElig A7=softsign A8=middot
A9=flat AA=reg AB=plusmn AC=Ohorn AD=Uhorn AE=mlrhring B0=mllhring B1=lstrok B2=ostrok B3=dstrok B4=thorn
B5=aelig B6=oelig B7=hardsign B8=inodot B9=pound BA=eth BC=ohorn BD=uhorn C0=deg C1=scriptl C2=phono
C3=copy C4=sharp C5=iquest C6=iexcl E0=hooka E1=grave E2=acute E3=circ E4=tilde E5=macr E6=breve E7=dot
E8=uml E9=caron EA=ring EB=llig EC=rlig ED=rcommaa EE=dblac EF=candra F0=cedil F1=ogon F2=dotb
F3=dbldotb F4=ringb F5=dblunder F6=under F7=commab F8=rcedil F9=breveb FA=ldbltil FB=rdbltil FE=commaa
";

/// The bytes of each name.
static NAMES: LazyLock<HashMap<&str, Vec<u8>>> = LazyLock::new(|| {
    let row = |(name, digits): (&'static str, &str)| {
        let pairs = digits.as_bytes().chunks_exact(2);
        (name, pairs.filter_map(|pair| number([pair[0], pair[1]])).collect())
    };
    TABLE.split_whitespace().filter_map(|row| row.split_once('=')).map(row).collect()
});

/// What is written for each byte that cannot be written unchanged.
static SPELLED: LazyLock<[String; 256]> = LazyLock::new(|| {
    let mut spelled = std::array::from_fn(|byte| format!("{{{byte:02X}}}"));
    for (digits, name) in WRITTEN.split_whitespace().filter_map(|row| row.split_once('=')) {
        if let [high, low] = *digits.as_bytes()
            && let Some(byte) = number([high, low])
        {
            spelled[usize::from(byte)] = format!("{{{name}}}");
        }
    }
    for (byte, name) in
        [(0x1B, "esc"), (b'$', "dollar"), (b'\\', "bsol"), (b'{', "lcub"), (b'}', "rcub")]
    {
        spelled[usize::from(byte)] = format!("{{{name}}}");
    }
    spelled
});

/// What a curly bracket begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Bracket {
    /// A mnemonic of so many bytes, and the bytes of MARC-8 that it stands for.
    Known(usize, Vec<u8>),
    /// What looks like a mnemonic of so many bytes, and is not in the table.
    Unknown(usize),
    /// Nothing: it stands for itself.
    Text,
}

/// Judges the bracket at the start of `rest`.
pub(super) fn bracket(rest: &[u8]) -> Bracket {
    let inside = &rest[1..];
    let is_name = |byte: &&u8| byte.is_ascii_alphanumeric();
    let length = inside.iter().take(NAME_BYTES_MAX + 1).take_while(is_name).count();
    if !(1..=NAME_BYTES_MAX).contains(&length) || inside.get(length) != Some(&b'}') {
        return Bracket::Text;
    }
    let whole = length + 2;
    match &inside[..length] {
        [byte] => Bracket::Known(whole, vec![*byte]),
        name => {
            let listed = std::str::from_utf8(name).ok().and_then(|name| NAMES.get(name).cloned());
            let byte = || <[u8; 2]>::try_from(name).ok().and_then(number).map(|byte| vec![byte]);
            listed
                .or_else(byte)
                .map_or(Bracket::Unknown(whole), |bytes| Bracket::Known(whole, bytes))
        }
    }
}

/// Returns the mnemonic for a byte.
pub(super) fn spelled(byte: u8) -> &'static str {
    &SPELLED[usize::from(byte)]
}

/// Parses two hexadecimal digits, in upper case.
fn number([high, low]: [u8; 2]) -> Option<u8> {
    let digit = |byte: u8| match byte {
        b'0'..=b'9' => Some(byte - b'0'),
        b'A'..=b'F' => Some(byte - b'A' + 10),
        _ => None,
    };
    Some(digit(high)? << 4 | digit(low)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_known() {
        for (text, bytes) in [
            ("{dollar}", &b"$"[..]),
            ("{lcub}5", b"{"),
            ("{acute}e", b"\xE2"),
            ("{eacute}", b"\xE2e"),
            ("{Eacute}", b"\xE2E"),
            ("{Ecy}", b"\xE7E"),
            ("{iecy}", b"\xEBi\xECe"),
            ("{sup2}", b"\x1Bp2\x1Bs"),
            ("{softsign}", b"\xA7"),
            ("{0}", b"0"),
            ("{0A}", b"\n"),
            ("{FF}", b"\xFF"),
            ("{ea}", b"\xEA"),
            ("{z}", b"z"),
        ] {
            let Bracket::Known(length, found) = bracket(text.as_bytes()) else { panic!("{text}") };
            assert_eq!((length, &found[..]), (text.find('}').unwrap() + 1, bytes), "{text}");
        }
        for (text, found) in [
            ("{zilch}", Bracket::Unknown(7)),
            ("{0a}", Bracket::Unknown(4)),
            ("{}", Bracket::Text),
            ("{", Bracket::Text),
            ("{a", Bracket::Text),
            ("{softsigns}", Bracket::Text),
            ("{no blank}", Bracket::Text),
        ] {
            assert_eq!(bracket(text.as_bytes()), found, "{text}");
        }
    }

    #[test]
    fn every_byte_is_spelled_as_it_is_read() {
        for byte in 0..=255 {
            let text = spelled(byte);
            assert_eq!(bracket(text.as_bytes()), Bracket::Known(text.len(), vec![byte]), "{text}");
        }
        assert_eq!(TABLE.split_whitespace().count(), NAMES.len());
    }
}
