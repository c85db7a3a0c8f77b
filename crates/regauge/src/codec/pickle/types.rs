//! The opcodes, as `pickletools.py` of CPython 3.13 names them.

/// Defines one name for each byte that begins an instruction.
macro_rules! opcodes {
    ($($name:ident = $byte:expr;)*) => {
        $(
            #[doc = concat!("The opcode ", stringify!($name), ".")]
            pub const $name: u8 = $byte;
        )*

        /// Returns the name of an opcode, such as `"BINUNICODE"`; `None` for a byte that does not
        /// begin an instruction.
        pub const fn opcode_name(opcode: u8) -> Option<&'static str> {
            match opcode {
                $($byte => Some(stringify!($name)),)*
                _ => None,
            }
        }
    };
}

opcodes! {
    // Protocol 0: text.
    MARK = b'(';
    STOP = b'.';
    POP = b'0';
    DUP = b'2';
    FLOAT = b'F';
    INT = b'I';
    LONG = b'L';
    NONE = b'N';
    PERSID = b'P';
    REDUCE = b'R';
    STRING = b'S';
    UNICODE = b'V';
    APPEND = b'a';
    BUILD = b'b';
    GLOBAL = b'c';
    DICT = b'd';
    GET = b'g';
    INST = b'i';
    LIST = b'l';
    PUT = b'p';
    SETITEM = b's';
    TUPLE = b't';
    // Protocol 1: binary.
    POP_MARK = b'1';
    BININT = b'J';
    BININT1 = b'K';
    BININT2 = b'M';
    BINPERSID = b'Q';
    BINSTRING = b'T';
    SHORT_BINSTRING = b'U';
    BINUNICODE = b'X';
    EMPTY_LIST = b']';
    APPENDS = b'e';
    BINGET = b'h';
    LONG_BINGET = b'j';
    OBJ = b'o';
    BINPUT = b'q';
    LONG_BINPUT = b'r';
    EMPTY_TUPLE = b')';
    SETITEMS = b'u';
    EMPTY_DICT = b'}';
    BINFLOAT = b'G';
    // Protocol 2.
    PROTO = 0x80;
    NEWOBJ = 0x81;
    EXT1 = 0x82;
    EXT2 = 0x83;
    EXT4 = 0x84;
    TUPLE1 = 0x85;
    TUPLE2 = 0x86;
    TUPLE3 = 0x87;
    NEWTRUE = 0x88;
    NEWFALSE = 0x89;
    LONG1 = 0x8A;
    LONG4 = 0x8B;
    // Protocol 3.
    BINBYTES = b'B';
    SHORT_BINBYTES = b'C';
    // Protocol 4.
    SHORT_BINUNICODE = 0x8C;
    BINUNICODE8 = 0x8D;
    BINBYTES8 = 0x8E;
    EMPTY_SET = 0x8F;
    ADDITEMS = 0x90;
    FROZENSET = 0x91;
    NEWOBJ_EX = 0x92;
    STACK_GLOBAL = 0x93;
    MEMOIZE = 0x94;
    FRAME = 0x95;
    // Protocol 5.
    BYTEARRAY8 = 0x96;
    NEXT_BUFFER = 0x97;
    READONLY_BUFFER = 0x98;
}

/// The highest protocol.
pub const HIGHEST_PROTOCOL: u8 = 5;

/// The protocol that Python 3.8 to 3.13 write by default, and so do we.
pub const DEFAULT_PROTOCOL: u8 = 4;
