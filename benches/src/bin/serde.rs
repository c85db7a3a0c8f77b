//! Rust's own types through `regauge::serde`, beside serde_json and rmp-serde: structs of twitter
//! and citm_catalog with every field that the files have, and one small document.
//!
//! Every route's result is compared before anything is timed. All routes of a table run in turn in
//! one process; the figures are thread processor time.

use std::collections::BTreeMap;
use std::hint::black_box;
use std::time::Duration;

use regauge::Format;
use regauge_bench::{Route, interleave, record_all};
use regauge_testdata::path;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

fn main() {
    let rounds = std::env::args().nth(1).and_then(|n| n.parse().ok()).unwrap_or(15);
    println!("thread CPU time, median of {rounds} rounds, routes in turn in one process");
    println!("serde_json with float_roundtrip; all built for plain {}", std::env::consts::ARCH);
    let file = |name: &str| std::fs::read(path(&format!("json/{name}.json"))).expect("readable");
    tables::<twitter::File>("twitter", &file("twitter"), rounds);
    tables::<citm::File>("citm_catalog", &file("citm_catalog"), rounds);
    let small =
        r#"{"id": 1186275104, "name": "Ada", "tags": ["a", "b"], "score": 0.5, "url": null}"#;
    tables::<Small>("a small document", small.as_bytes(), rounds);
}

#[derive(Serialize, Deserialize, PartialEq, Debug)]
struct Small {
    id: u64,
    name: String,
    tags: Vec<String>,
    score: f64,
    url: Option<String>,
}

fn tables<T>(name: &str, text: &[u8], rounds: usize)
where
    T: DeserializeOwned + Serialize + PartialEq,
{
    let document: T = serde_json::from_slice(text).expect("the types fit the file");
    let packed = rmp_serde::to_vec_named(&document).expect("serializable");
    let read = |bytes: &[u8], format| regauge::serde::from_slice::<T>(bytes, format);
    assert!(read(text, Format::Json).expect("valid") == document);
    assert!(read(&packed, Format::Msgpack).expect("valid") == document);
    let write = |format| regauge::serde::to_vec(&document, format).expect("serializable");
    assert!(write(Format::Msgpack) == packed);
    assert!(serde_json::from_slice::<T>(&write(Format::Json)).expect("JSON") == document);

    let mut routes = vec![
        Route {
            name: "regauge",
            run: Box::new(|_| drop(black_box(read(text, Format::Json).expect("valid")))),
        },
        Route {
            name: "serde_json",
            run: Box::new(|_| {
                drop(black_box(serde_json::from_slice::<T>(text).expect("valid")));
            }),
        },
    ];
    print(name, "a struct from JSON", text.len(), &mut routes, rounds);
    let mut routes = vec![
        Route {
            name: "regauge",
            run: Box::new(|_| drop(black_box(read(&packed, Format::Msgpack).expect("valid")))),
        },
        Route {
            name: "rmp-serde",
            run: Box::new(|_| {
                drop(black_box(rmp_serde::from_slice::<T>(&packed).expect("valid")));
            }),
        },
    ];
    print(name, "a struct from MessagePack", packed.len(), &mut routes, rounds);
    let mut routes = vec![
        Route { name: "regauge", run: Box::new(|out| *out = write(Format::Json)) },
        Route {
            name: "serde_json",
            run: Box::new(|out| *out = serde_json::to_vec(&document).expect("serializable")),
        },
    ];
    print(name, "JSON from a struct", text.len(), &mut routes, rounds);
    let mut routes = vec![
        Route { name: "regauge", run: Box::new(|out| *out = write(Format::Msgpack)) },
        Route {
            name: "rmp-serde",
            run: Box::new(|out| {
                *out = rmp_serde::to_vec_named(&document).expect("serializable");
            }),
        },
    ];
    print(name, "MessagePack from a struct", packed.len(), &mut routes, rounds);
}

fn print(name: &str, table: &str, bytes: usize, routes: &mut [Route<'_>], rounds: usize) {
    let times = interleave(routes, rounds, Duration::from_millis(20));
    record_all(table, name, bytes, &times);
    println!("\n{name}: {table}, {bytes} bytes");
    for route in &times {
        println!(
            "  {:12} {:>9.2} us  {:>5.2} GB/s  {:>5.2}x the first (by the least: {:.2}x)",
            route.name,
            route.median / 1e3,
            bytes as f64 / route.median,
            route.median / times[0].median,
            route.least / times[0].least,
        );
    }
}

mod citm {
    use super::*;

    #[derive(Serialize, Deserialize, PartialEq)]
    #[serde(rename_all = "camelCase", deny_unknown_fields)]
    pub struct File {
        area_names: BTreeMap<String, String>,
        audience_sub_category_names: BTreeMap<String, String>,
        block_names: BTreeMap<String, String>,
        events: BTreeMap<String, Event>,
        performances: Vec<Performance>,
        seat_category_names: BTreeMap<String, String>,
        sub_topic_names: BTreeMap<String, String>,
        subject_names: BTreeMap<String, String>,
        topic_names: BTreeMap<String, String>,
        topic_sub_topics: BTreeMap<String, Vec<u64>>,
        venue_names: BTreeMap<String, String>,
    }

    #[derive(Serialize, Deserialize, PartialEq)]
    #[serde(rename_all = "camelCase", deny_unknown_fields)]
    struct Event {
        description: Option<String>,
        id: u64,
        logo: Option<String>,
        name: String,
        sub_topic_ids: Vec<u64>,
        subject_code: Option<String>,
        subtitle: Option<String>,
        topic_ids: Vec<u64>,
    }

    #[derive(Serialize, Deserialize, PartialEq)]
    #[serde(rename_all = "camelCase", deny_unknown_fields)]
    struct Performance {
        event_id: u64,
        id: u64,
        logo: Option<String>,
        name: Option<String>,
        prices: Vec<Price>,
        seat_categories: Vec<SeatCategory>,
        seat_map_image: Option<String>,
        start: u64,
        venue_code: String,
    }

    #[derive(Serialize, Deserialize, PartialEq)]
    #[serde(rename_all = "camelCase", deny_unknown_fields)]
    struct Price {
        amount: u64,
        audience_sub_category_id: u64,
        seat_category_id: u64,
    }

    #[derive(Serialize, Deserialize, PartialEq)]
    #[serde(rename_all = "camelCase", deny_unknown_fields)]
    struct SeatCategory {
        areas: Vec<Area>,
        seat_category_id: u64,
    }

    #[derive(Serialize, Deserialize, PartialEq)]
    #[serde(rename_all = "camelCase", deny_unknown_fields)]
    struct Area {
        area_id: u64,
        block_ids: Vec<u64>,
    }
}

mod twitter {
    use super::*;

    #[derive(Serialize, Deserialize, PartialEq)]
    #[serde(deny_unknown_fields)]
    pub struct File {
        statuses: Vec<Status>,
        search_metadata: SearchMetadata,
    }

    #[derive(Serialize, Deserialize, PartialEq)]
    #[serde(deny_unknown_fields)]
    struct Status {
        metadata: Metadata,
        created_at: String,
        id: i64,
        id_str: String,
        text: String,
        source: String,
        truncated: bool,
        in_reply_to_status_id: Option<i64>,
        in_reply_to_status_id_str: Option<String>,
        in_reply_to_user_id: Option<i64>,
        in_reply_to_user_id_str: Option<String>,
        in_reply_to_screen_name: Option<String>,
        user: User,
        geo: Option<()>,
        coordinates: Option<()>,
        place: Option<()>,
        contributors: Option<()>,
        retweet_count: i64,
        favorite_count: i64,
        entities: Entities,
        favorited: bool,
        retweeted: bool,
        lang: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        retweeted_status: Option<Box<Status>>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        possibly_sensitive: Option<bool>,
    }

    #[derive(Serialize, Deserialize, PartialEq)]
    #[serde(deny_unknown_fields)]
    struct SearchMetadata {
        completed_in: f64,
        max_id: i64,
        max_id_str: String,
        next_results: String,
        query: String,
        refresh_url: String,
        count: i64,
        since_id: i64,
        since_id_str: String,
    }

    #[derive(Serialize, Deserialize, PartialEq)]
    #[serde(deny_unknown_fields)]
    struct Metadata {
        result_type: String,
        iso_language_code: String,
    }

    #[derive(Serialize, Deserialize, PartialEq)]
    #[serde(deny_unknown_fields)]
    struct User {
        id: i64,
        id_str: String,
        name: String,
        screen_name: String,
        location: String,
        description: String,
        url: Option<String>,
        entities: Entities,
        protected: bool,
        followers_count: i64,
        friends_count: i64,
        listed_count: i64,
        created_at: String,
        favourites_count: i64,
        utc_offset: Option<i64>,
        time_zone: Option<String>,
        geo_enabled: bool,
        verified: bool,
        statuses_count: i64,
        lang: String,
        contributors_enabled: bool,
        is_translator: bool,
        is_translation_enabled: bool,
        profile_background_color: String,
        profile_background_image_url: String,
        profile_background_image_url_https: String,
        profile_background_tile: bool,
        profile_image_url: String,
        profile_image_url_https: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        profile_banner_url: Option<String>,
        profile_link_color: String,
        profile_sidebar_border_color: String,
        profile_sidebar_fill_color: String,
        profile_text_color: String,
        profile_use_background_image: bool,
        default_profile: bool,
        default_profile_image: bool,
        following: bool,
        follow_request_sent: bool,
        notifications: bool,
    }

    #[derive(Serialize, Deserialize, PartialEq)]
    #[serde(deny_unknown_fields)]
    struct Entities {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        hashtags: Option<Vec<Hashtag>>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        symbols: Option<Vec<Hashtag>>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        urls: Option<Vec<Url>>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        user_mentions: Option<Vec<Mention>>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        media: Option<Vec<Media>>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        description: Option<Text>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        url: Option<Text>,
    }

    #[derive(Serialize, Deserialize, PartialEq)]
    #[serde(deny_unknown_fields)]
    struct Hashtag {
        text: String,
        indices: Vec<i64>,
    }

    #[derive(Serialize, Deserialize, PartialEq)]
    #[serde(deny_unknown_fields)]
    struct Url {
        url: String,
        expanded_url: String,
        display_url: String,
        indices: Vec<i64>,
    }

    #[derive(Serialize, Deserialize, PartialEq)]
    #[serde(deny_unknown_fields)]
    struct Mention {
        screen_name: String,
        name: String,
        id: i64,
        id_str: String,
        indices: Vec<i64>,
    }

    #[derive(Serialize, Deserialize, PartialEq)]
    #[serde(deny_unknown_fields)]
    struct Media {
        id: i64,
        id_str: String,
        indices: Vec<i64>,
        media_url: String,
        media_url_https: String,
        url: String,
        display_url: String,
        expanded_url: String,
        #[serde(rename = "type")]
        kind: String,
        sizes: Sizes,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        source_status_id: Option<i64>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        source_status_id_str: Option<String>,
    }

    #[derive(Serialize, Deserialize, PartialEq)]
    #[serde(deny_unknown_fields)]
    struct Text {
        urls: Vec<Url>,
    }

    #[derive(Serialize, Deserialize, PartialEq)]
    #[serde(deny_unknown_fields)]
    struct Sizes {
        medium: Size,
        small: Size,
        thumb: Size,
        large: Size,
    }

    #[derive(Serialize, Deserialize, PartialEq)]
    #[serde(deny_unknown_fields)]
    struct Size {
        w: i64,
        h: i64,
        resize: String,
    }
}
