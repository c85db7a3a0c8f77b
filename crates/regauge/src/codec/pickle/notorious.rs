//! Names used in known pickle attacks.
//!
//! The table is not a defence: a name that is missing from it is unknown, and unknown code must not
//! be run either. It lets a verdict say more than "unknown" if more is known.

/// Modules in which every name is notorious: they run commands, open connections, load code, or
/// change files.
const MODULES: &[&str] = &[
    "os",
    "posix",
    "nt",
    "subprocess",
    "commands",
    "popen2",
    "pty",
    "sys",
    "runpy",
    "importlib",
    "imp",
    "pkgutil",
    "zipimport",
    "ctypes",
    "_ctypes",
    "cffi",
    "mmap",
    "socket",
    "_socket",
    "socketserver",
    "ssl",
    "http",
    "urllib",
    "urllib2",
    "httplib",
    "ftplib",
    "smtplib",
    "telnetlib",
    "requests",
    "aiohttp",
    "paramiko",
    "asyncio",
    "multiprocessing",
    "threading",
    "_thread",
    "thread",
    "webbrowser",
    "shutil",
    "tempfile",
    "pathlib2",
    "code",
    "codeop",
    "bdb",
    "pdb",
    "timeit",
    "trace",
    "cProfile",
    "profile",
    "pydoc",
    "doctest",
    "unittest",
    "venv",
    "ensurepip",
    "pip",
    "setuptools",
    "distutils",
    "site",
    "signal",
    "marshal",
    "pickle",
    "_pickle",
    "cPickle",
    "dill",
    "cloudpickle",
    "joblib",
    "shelve",
    "types",
    "inspect",
    "gc",
    "platform",
    "idlelib",
    "lib2to3",
    "xmlrpc",
    "wsgiref",
    "ctypes.util",
];

/// Single names.
const NAMES: &[(&str, &[&str])] = &[
    (
        "builtins",
        &[
            "eval",
            "exec",
            "execfile",
            "compile",
            "open",
            "file",
            "__import__",
            "getattr",
            "setattr",
            "delattr",
            "globals",
            "locals",
            "vars",
            "input",
            "raw_input",
            "breakpoint",
            "apply",
            "reduce",
            "map",
            "filter",
            "memoryview",
            "super",
            "type",
            "help",
            "exit",
            "quit",
        ],
    ),
    ("operator", &["attrgetter", "itemgetter", "methodcaller", "call"]),
    ("_operator", &["attrgetter", "itemgetter", "methodcaller", "call"]),
    ("functools", &["partial", "reduce", "partialmethod"]),
    ("_functools", &["partial", "reduce"]),
    ("io", &["open", "open_code", "FileIO"]),
    ("_io", &["open", "open_code", "FileIO"]),
    ("codecs", &["open"]),
    ("linecache", &["getline", "getlines", "updatecache"]),
    ("logging.config", &["fileConfig", "dictConfig", "listen"]),
    ("numpy", &["load", "fromfile", "loadtxt", "genfromtxt"]),
    ("numpy.testing._private.utils", &["runstring"]),
    ("torch", &["load"]),
    ("torch.hub", &["load"]),
    ("torch.serialization", &["load"]),
    ("torch.jit._script", &["unchecked_unwrap_optional"]),
    ("torch._inductor.codecache", &["compile_file"]),
    ("tensorflow.python.ops.io_ops", &["read_file"]),
    ("yaml", &["load", "unsafe_load", "full_load"]),
    ("pandas", &["read_pickle", "eval"]),
    ("pandas.io.common", &["get_handle"]),
    ("sqlite3", &["connect"]),
];

/// Harmless names in the modules above.
const EXCEPT: &[(&str, &str)] = &[
    ("types", "SimpleNamespace"),
    ("types", "MappingProxyType"),
    ("types", "NoneType"),
    ("types", "GenericAlias"),
    ("os", "PathLike"),
    ("joblib", "numpy_pickle"),
    // What web frameworks keep in caches and sessions.
    ("http", "HTTPStatus"),
    ("http.cookies", "BaseCookie"),
    ("http.cookies", "Morsel"),
    ("http.cookies", "SimpleCookie"),
    ("urllib.parse", "DefragResult"),
    ("urllib.parse", "ParseResult"),
    ("urllib.parse", "SplitResult"),
];

/// Returns whether the name is notorious. A submodule counts as its module, except for one known
/// for saved objects: `joblib.numpy_pickle`.
pub(super) fn is(module: &str, name: &str) -> bool {
    let name = name.split('.').next().unwrap_or(name);
    // The builtins have two names, and can be reached through others: `os.sys.modules`.
    let plain = if module == "__builtin__" { "builtins" } else { module };
    if EXCEPT.iter().any(|(within, one)| *within == plain && *one == name) {
        return false;
    }
    let top = plain.split('.').next().unwrap_or(plain);
    let whole = MODULES.contains(&plain)
        || (MODULES.contains(&top) && plain != "joblib.numpy_pickle" && top != "sys");
    whole || NAMES.iter().any(|(within, names)| *within == plain && names.contains(&name))
}

#[cfg(test)]
mod tests {
    use super::is;

    #[test]
    fn what_attacks_are_made_of() {
        for (module, name) in [
            ("os", "system"),
            ("posix", "system"),
            ("nt", "system"),
            ("builtins", "eval"),
            ("__builtin__", "exec"),
            ("subprocess", "Popen"),
            ("runpy", "_run_code"),
            ("pty", "spawn"),
            ("importlib", "import_module"),
            ("webbrowser", "open"),
            ("shutil", "rmtree"),
            ("socket", "socket"),
            ("os.path", "join"),
            ("http.client", "HTTPConnection"),
            ("urllib.request", "urlopen"),
            ("builtins", "getattr.__call__"),
        ] {
            assert!(is(module, name), "{module}.{name}");
        }
        for (module, name) in [
            ("builtins", "list"),
            ("collections", "OrderedDict"),
            ("mymodule", "eval"),
            ("types", "SimpleNamespace"),
            ("joblib.numpy_pickle", "NDArrayWrapper"),
            ("http.cookies", "SimpleCookie"),
            ("urllib.parse", "SplitResult"),
            ("ossature", "system"),
        ] {
            assert!(!is(module, name), "{module}.{name}");
        }
    }
}
