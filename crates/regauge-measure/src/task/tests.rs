//! Checks task files against the posts, and against what the binary contains.

use super::*;
use crate::model::report::Cell;
use crate::plan::contender::{self, Contender};
use plan::{RowPlan, TablePlan};

fn table<'p>(plan: &'p Plan, title: &str) -> &'p TablePlan {
    plan.table
        .iter()
        .find(|one| one.title == title)
        .unwrap_or_else(|| panic!("{} has no table {title}", plan.name))
}

fn row<'t>(table: &'t TablePlan, label: &str) -> &'t RowPlan {
    table
        .row
        .iter()
        .find(|one| one.label == label)
        .unwrap_or_else(|| panic!("{} has no row {label}", table.title))
}

#[test]
fn every_task_can_be_read_and_all_seven_are_there() {
    let names: Vec<String> = list().into_iter().map(|one| one.name).collect();
    assert_eq!(
        names,
        ["marc-catalog", "object-store", "tenancy", "ruby-types", "time-slice", "senators", "own"]
    );
    for (path, text) in assets::FILES
        .iter()
        .filter(|(path, _)| path.starts_with("tasks/") && path.ends_with(".toml"))
    {
        let plan: Plan = toml::from_str(text).unwrap_or_else(|error| panic!("{path}: {error}"));
        assert_eq!(*path, format!("tasks/{}.toml", plan.name));
    }
}

/// The numbers as the posts print them: task, table, row, columns.
const PUBLISHED: &[(&str, &str, &str, &[f64])] = &[
    ("marc-catalog", "Size of the catalogue", "marc21", &[31.0, 9.0]),
    ("marc-catalog", "Size of the catalogue", "msgpack", &[42.0, 8.2]),
    ("marc-catalog", "Size of the catalogue", "json (ndj)", &[56.0, 8.1]),
    ("marc-catalog", "Size of the catalogue", "marshal", &[69.0, 9.4]),
    ("marc-catalog", "Size of the catalogue", "marc-xml", &[93.0, 9.2]),
    ("marc-catalog", "MRI Ruby, MARC::Record objects", "marc21", &[11.5, 6.7, 18.2]),
    ("marc-catalog", "MRI Ruby, MARC::Record objects", "json", &[9.5, 5.9, 15.4]),
    ("marc-catalog", "MRI Ruby, MARC::Record objects", "json (oj)", &[6.4, 3.5, 9.9]),
    ("marc-catalog", "MRI Ruby, MARC::Record objects", "msgpack", &[5.8, 3.4, 9.2]),
    ("marc-catalog", "MRI Ruby, MARC::Record objects", "marshal", &[7.0, 8.7, 15.7]),
    ("marc-catalog", "JRuby, MARC::Record objects", "marc21", &[6.9, 4.2, 11.1]),
    ("marc-catalog", "JRuby, MARC::Record objects", "json", &[4.1, 2.5, 6.6]),
    ("marc-catalog", "JRuby, MARC::Record objects", "msgpack", &[4.0, 3.9, 7.9]),
    ("marc-catalog", "JRuby, MARC::Record objects", "marshal", &[5.3, 8.1, 13.4]),
    ("object-store", "Ruby's Marshal, all objects", "create", &[0.25]),
    ("object-store", "Ruby's Marshal, all objects", "create + dump", &[2.5]),
    ("object-store", "Ruby's Marshal, all objects", "create + dump + Base64", &[2.7]),
    ("object-store", "Ruby's Marshal, all objects", "Base64 + load", &[2.0]),
    ("object-store", "Time with vs without Base64, Ruby", "dump", &[1.1]),
    ("object-store", "Time with vs without Base64, Ruby", "load", &[1.12]),
    ("object-store", "Time with vs without Base64, Ruby", "round trip", &[1.23]),
    ("object-store", "Size with vs without Base64, Ruby", "an object", &[1.3]),
    ("ruby-types", "An object of type Hash", "JSON (using oj)", &[68.3]),
    ("ruby-types", "An object of type Hash", "MessagePack", &[62.7]),
    ("ruby-types", "An object of type Hash", "BSON", &[54.7]),
    ("ruby-types", "An object of type Hash", "Marshal", &[41.4]),
    ("ruby-types", "An object of type Hash", "JSON (using Yajl)", &[31.3]),
    ("ruby-types", "An object of type Hash", "JSON (built-in ruby)", &[26.9]),
    ("ruby-types", "An object of type Hash", "YAML", &[1.2]),
    ("ruby-types", "An object of type String", "JSON (using oj)", &[344.6]),
    ("ruby-types", "An object of type String", "BSON", &[308.3]),
    ("ruby-types", "An object of type String", "Marshal", &[151.1]),
    ("ruby-types", "An object of type String", "MessagePack", &[127.8]),
    ("ruby-types", "An object of type String", "JSON (built-in ruby)", &[99.2]),
    ("ruby-types", "An object of type String", "JSON (using Yajl)", &[96.9]),
    ("ruby-types", "An object of type String", "YAML", &[4.7]),
    ("ruby-types", "An object of type Float", "BSON", &[332.6]),
    ("ruby-types", "An object of type Float", "JSON (using oj)", &[204.1]),
    ("ruby-types", "An object of type Float", "Marshal", &[168.1]),
    ("ruby-types", "An object of type Float", "MessagePack", &[124.3]),
    ("ruby-types", "An object of type Float", "JSON (built-in ruby)", &[83.8]),
    ("ruby-types", "An object of type Float", "JSON (using Yajl)", &[80.2]),
    ("ruby-types", "An object of type Float", "YAML", &[4.5]),
    (
        "ruby-types",
        "An object of type CustomClass, and which libraries accept it",
        "JSON (using oj, object mode)",
        &[195.2],
    ),
    (
        "ruby-types",
        "An object of type CustomClass, and which libraries accept it",
        "Marshal",
        &[87.4],
    ),
    (
        "ruby-types",
        "Libraries that accept any type",
        "JSON (using oj, object mode)",
        &[198.8, 70.9, 368.0, 195.2],
    ),
    ("ruby-types", "Libraries that accept any type", "Marshal", &[169.1, 44.4, 158.3, 87.4]),
    ("time-slice", "Bytes per slice", "JSON", &[16_402.0, 1_077.0]),
    ("time-slice", "Bytes per slice", "MessagePack", &[14_063.0, 1_171.0]),
    (
        "time-slice",
        "1,000 calls: a rehearsal, then the run",
        "MessagePack",
        &[0.410_992, 0.408_010, 0.074_048, 0.073_553],
    ),
    (
        "time-slice",
        "1,000 calls: a rehearsal, then the run",
        "Oj",
        &[0.654_920, 0.680_867, 0.164_234, 0.156_360],
    ),
    ("senators", "Python, to dictionaries and lists", "json", &[1.4]),
    ("senators", "Python, to dictionaries and lists", "ujson", &[0.4]),
    ("senators", "Python, to dictionaries and lists", "PyYAML (default loader)", &[303.1]),
    ("senators", "Python, to dictionaries and lists", "PyYAML (C Loader)", &[27.9]),
    ("senators", "Python, to dictionaries and lists", "msgpack-python", &[0.2]),
    ("senators", "Python, to dictionaries and lists", "cPickle", &[14.1]),
];

#[test]
fn the_published_figures_are_those_of_the_posts() {
    let plans = plan::all();
    let mut seen = 0;
    for (task, title, label, numbers) in PUBLISHED {
        let plan = plans.iter().find(|plan| plan.name == *task).unwrap();
        assert_eq!(row(table(plan, title), label).published, *numbers, "{task}, {title}, {label}");
        seen += 1;
    }
    // And no others: those of N/A rows are nan.
    let all = plans
        .iter()
        .flat_map(|plan| &plan.table)
        .flat_map(|table| &table.row)
        .filter(|row| row.published.iter().any(|number| !number.is_nan()))
        .count();
    assert_eq!(all, seen);
    let tenancy = plans.iter().find(|plan| plan.name == "tenancy").unwrap();
    let many = row(&tenancy.table[0], "one per tenant, kept open");
    assert_eq!(many.published_ratio[1], 1.053);
}

#[test]
fn published_units_become_those_of_the_report() {
    let plans = plan::all();
    let senators = plans.iter().find(|plan| plan.name == "senators").unwrap();
    assert_eq!(senators.table[0].column[0].published(1.4), Some(1.4e6));
    let catalogue = &plans[0];
    assert_eq!(catalogue.table[0].column[0].published(31.0), Some(31e6));
    assert_eq!(catalogue.table[1].column[2].published(18.2), Some(18.2e9));
    assert_eq!(catalogue.table[1].column[2].published(f64::NAN), None);
}

#[test]
fn tasks_name_only_what_there_is() {
    let contenders = contender::all();
    let runs = |one: &Contender, name: &str| one.runtime.name().eq_ignore_ascii_case(name);
    for plan in plan::all() {
        let tables = plan.table.iter();
        for (table, row) in tables.flat_map(|table| table.row.iter().map(move |row| (table, row))) {
            let where_ = format!("{}, {}, {}", plan.name, table.title, row.label);
            let count = row.published.len().max(row.published_ratio.len());
            assert!(count <= table.column.len(), "{where_}");
            let Some(runtime) = table.runtime.as_deref() else { panic!("{where_}: no runtime") };
            // A runtime that this build does not carry has no contenders to name.
            if !row.contender.is_empty() && contenders.iter().any(|one| runs(one, runtime)) {
                let known = row.contender.iter().any(|name| {
                    contenders.iter().any(|one| one.name == *name && runs(one, runtime))
                });
                assert!(known, "{where_}: no contender {:?}", row.contender);
            }
        }
        for table in &plan.table {
            if let Some(baseline) = &table.baseline {
                row(table, baseline);
            }
            for column in &table.column {
                assert!(
                    ["ns", "bytes", "per second", "ratio"].contains(&column.unit.as_str()),
                    "{}, {}",
                    table.title,
                    column.name
                );
            }
        }
        for change in &plan.changed {
            let table = table(&plan, &change.table);
            assert!(table.column.iter().any(|one| one.name == change.column), "{}", change.column);
            for label in [&change.row, &change.against].into_iter().flatten() {
                row(table, label);
            }
            // Every outcome has its own wording, with today's figure or the lack of one.
            assert!(change.same != change.turned && change.turned != change.close);
            for words in [&change.same, &change.turned] {
                assert!(words.contains("{now}"), "{words}");
            }
        }
        for crossing in &plan.crossing {
            let table = table(&plan, &crossing.table);
            row(table, &crossing.row);
            row(table, &crossing.against);
            // The columns are of growing numbers.
            let numbers: Vec<f64> =
                table.column.iter().map(|one| crossing::number(&one.name).unwrap()).collect();
            assert!(numbers.is_sorted() && numbers.len() > 1, "{}", table.title);
        }
        for program in &plan.program {
            let path = format!("tasks/{}", program.file);
            let native = program.runtime == runtime::Runtime::NATIVE.name();
            assert!(native || assets::text(&path).is_some(), "{path}");
            assert!(plan.data.is_some());
        }
        if let Some(kind) = plan.data.as_ref().and_then(|data| data.sample.as_deref()) {
            kind.parse::<Kind>().unwrap();
        }
        assert!(plan.source.is_some() || plan.table.is_empty(), "{}", plan.name);
    }
}

#[test]
fn published_figures_are_those_that_the_posts_print() {
    let plans = plan::all();
    let report = crate::model::report::small::empty();
    let results = codec::Codec { report: &report, calls: HashMap::new() };
    let cell = |task: &str, title: &str, label: &str, column: usize| -> Cell {
        let plan = plans.iter().find(|plan| plan.name == task).unwrap();
        let task = fill::task(plan, &results, 1);
        let table = task.tables.into_iter().find(|table| table.title == title).unwrap();
        let row = table.rows.into_iter().find(|row| row.name == label).unwrap();
        row.cells.into_iter().nth(column).unwrap()
    };
    // If the post rounds, its ratio differs from that of its numbers: 68.3 / 1.2 is 56.9.
    let yaml = cell("ruby-types", "An object of type Hash", "YAML", 0);
    assert_eq!((yaml.published, yaml.published_ratio), (Some(1.2), Some(59.15)));
    let json = cell("marc-catalog", "Size of the catalogue", "json (ndj)", 0);
    assert_eq!((json.published, json.published_ratio), (Some(56e6), Some(1.8)));
    let oj = |column| cell("marc-catalog", "MRI Ruby, MARC::Record objects", "json (oj)", column);
    assert_eq!((oj(2).published, oj(2).published_ratio), (Some(9.9e9), Some(0.54)));
    // 10 to 12%, which is no number between the two.
    let dump = cell("object-store", "Time with vs without Base64, Ruby", "dump", 0);
    assert_eq!((dump.published, dump.published_to), (Some(1.1), Some(1.12)));
    // A post without ratios gets those of its numbers.
    let ujson = cell("senators", "Python, to dictionaries and lists", "ujson", 0);
    assert_eq!(ujson.published_ratio.map(|ratio| (ratio * 1000.0).round()), Some(286.0));
}

#[test]
fn a_task_that_is_not_there_names_those_that_are() {
    let mut request = Request { name: "nothing".into(), ..Request::default() };
    let options = Options::new(PathBuf::new(), Vec::new());
    let told = |request: &Request| {
        run(request, &options, &mut crate::plan::options::Quiet).unwrap_err().to_string()
    };
    assert!(told(&request).starts_with("found task \"nothing\", expected one of marc-catalog, "));
    request.name = "own".into();
    assert_eq!(told(&request), "the task own needs a FILE");
    request.name = "tenancy".into();
    request.file = true;
    assert_eq!(told(&request), "the task tenancy makes its own objects and does not accept a FILE");
}

#[test]
fn bytes_that_a_contender_wrote_itself_stand_under_its_name() {
    use crate::model::report::Reference;
    let mut report = crate::model::report::small::empty();
    let reference = |written_by: &str, bytes| Reference {
        format: "pickle".to_owned(),
        bytes,
        gzip_bytes: bytes / 2,
        written_by: written_by.to_owned(),
        losses: Vec::new(),
        compressions: Vec::new(),
    };
    report.references =
        vec![reference("regauge", 40), reference("pymarc (pickled records) (Python)", 60)];
    report.rows = vec![crate::model::report::small::row(
        "pymarc (pickled records)",
        "pickle",
        60,
        &[1.0],
        &[1.0],
    )];
    let results = codec::Codec { report: &report, calls: HashMap::new() };
    let plans = plan::all();
    let catalogue = plans.iter().find(|plan| plan.name == "marc-catalog").unwrap();
    let sizes = table(catalogue, "Size of the catalogue");
    let rows = fill::Results::since(&results, sizes);
    let labels: Vec<&str> = rows.iter().map(|row| row.label.as_str()).collect();
    assert_eq!(labels, ["pickle", "pymarc (pickled records)"]);
    let size = |row| fill::Results::find(&results, sizes, row, &sizes.column[0]).unwrap();
    assert_eq!(size(&rows[0]).estimate(1).median, 40.0);
    assert_eq!(size(&rows[1]).estimate(1).median, 60.0);
}

/// No time for a contender is another reason than its absence.
#[test]
fn one_that_was_not_timed_is_not_said_to_be_absent() {
    use crate::model::report::{Field, NotTimed, Verdict};
    let plans = plan::all();
    let catalogue = plans.iter().find(|plan| plan.name == "marc-catalog").unwrap();
    let records = table(catalogue, "MRI Ruby, MARC::Record objects");
    let of_marc = row(records, "marc21");
    let mut report = crate::model::report::small::empty();
    let why = |report: &Report| {
        let results = codec::Codec { report, calls: HashMap::new() };
        fill::Results::find(&results, records, of_marc, &records.column[0]).unwrap_err()
    };
    assert!(why(&report).starts_with("no contender of "), "{}", why(&report));
    let told = NotTimed {
        contender: of_marc.contender[0].clone(),
        usual: true,
        why: "the budget ran out".into(),
        is_ruled_out: false,
    };
    let field = Field {
        runtime: runtime::Runtime::of("ruby"),
        gives: crate::model::wire::Gives::Record,
        found: 1,
        timed: 0,
        usual: 1,
        usual_timed: 0,
        usual_missing: Vec::new(),
        not_timed: vec![told],
        now: None,
    };
    report.verdict =
        Some(Verdict { summary: Vec::new(), choices: Vec::new(), fields: vec![field] });
    assert_eq!(why(&report), "not timed: the budget ran out");
}
