//! What the options are called where this code runs.

/// The names of the options that an error suggests: `schema=` in Python, `--parquet-schema` in the command.
#[derive(Clone, Copy, Debug)]
pub struct Words {
    /// Gives the types of the columns.
    pub schema: &'static str,
    /// Gives the number of documents that the columns are inferred from.
    pub sample: &'static str,
    /// Writes values of mixed types as text of JSON.
    pub wrap: &'static str,
    /// Writes the nearest value, or a null.
    pub approximate: &'static str,
}

impl Words {
    /// Those of Python's `to_arrow`.
    pub const PYTHON: Words = Words {
        schema: "schema=",
        sample: "sample=",
        wrap: "on_loss=\"wrap\"",
        approximate: "on_loss=\"approximate\"",
    };
    /// Those of the source for PySpark.
    pub const SPARK: Words = Words {
        schema: ".schema(…)",
        sample: "option(\"sample\", …)",
        wrap: "option(\"on_loss\", \"wrap\")",
        approximate: "option(\"on_loss\", \"approximate\")",
    };
    /// Those of the command.
    pub const COMMAND: Words = Words {
        schema: "--parquet-schema",
        sample: "--parquet-sample",
        wrap: "--on-loss wrap",
        approximate: "--on-loss approximate",
    };
}
