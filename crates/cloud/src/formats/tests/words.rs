use super::*;

fn vector(dims: usize, seed: usize) -> Vec<f64> {
    (0..dims).map(|at| ((seed * 31 + at * 7) % 100) as f64 / 64.0 - 0.5).collect()
}

fn line(word: &[u8], vector: &[f64]) -> Vec<u8> {
    let numbers: String = vector.iter().map(|value| format!(" {value}")).collect();
    [word, numbers.as_bytes(), b"\n"].concat()
}

/// Words with everything that occurs in practice: a comma, a `#`, numbers, spaces, quotes, invalid UTF-8.
const WORDS: [&[u8]; 10] = [
    b"the",
    b",",
    b"#",
    b"2008",
    b". . .",
    b"\"",
    b"at name@domain.com",
    b"\xe9t\xe9",
    "caf\u{e9}\u{a0}noir".as_bytes(),
    b"nan",
];

pub(super) fn glove(dims: usize) -> Vec<u8> {
    WORDS.iter().enumerate().flat_map(|(at, word)| line(word, &vector(dims, at))).collect()
}

fn want(dims: usize) -> Vec<f64> {
    (0..WORDS.len()).flat_map(|at| vector(dims, at)).collect()
}

fn dims_names(dims: usize) -> Vec<String> {
    (1..=dims).map(|at| format!("d{at}")).collect()
}

#[test]
fn glove_word2vec_and_fasttext_are_read_under_any_name() {
    let sized = |dims: usize| [format!("{} {dims}\n", WORDS.len()).as_bytes(), &glove(dims)].concat();
    for (name, content, dims, sizes) in [
        ("glove.6B.50d.txt", glove(50), 50, ""),
        ("glove", glove(25), 25, ""),
        ("glove.txt.gz", gzip(glove(50)), 50, ", gzip"),
        ("a.vec", glove(3), 3, ""),
        ("wiki.en.vec", sized(4), 4, ", with a first line of sizes"),
        ("wiki.en.vec.gz", gzip(sized(4)), 4, ", with a first line of sizes, gzip"),
        ("word2vec.txt", sized(3), 3, ", with a first line of sizes"),
        // fastText ends lines with a space, Windows with a carriage return.
        (
            "a.vec",
            String::from_utf8_lossy(&sized(5)).replace('\n', " \n").into_bytes(),
            5,
            ", with a first line of sizes",
        ),
        (
            "a.vec",
            String::from_utf8_lossy(&sized(5)).replace('\n', "\r\n").into_bytes(),
            5,
            ", with a first line of sizes",
        ),
    ] {
        let sample = SampleFile::new(name, content);
        assert_eq!(sample.table(""), (dims_names(dims), want(dims)), "{name}");
        let info = sample.info();
        assert_eq!(
            (info.rows, info.format),
            (WORDS.len() as u64, format!("word vectors, {dims} dimensions{sizes}")),
            "{name}"
        );
        assert_eq!(
            (info.columns[0].kind, info.columns[0].example.as_deref()),
            (ColumnKind::Text, Some("the"))
        );
        assert_eq!(info.default_columns, (1..=dims).collect::<Vec<_>>());
        assert_eq!(
            sample.table("d2,1").1,
            (0..WORDS.len()).flat_map(|at| [vector(dims, at)[1], vector(dims, at)[0]]).collect::<Vec<_>>()
        );
        let line = if sizes.contains("first line") { 2 } else { 1 };
        assert_eq!(
            sample.error_of("word"),
            format!("line {line}, record 0, column `word`: `the` is not a number")
        );
    }
}

#[test]
fn labelled_points_are_read_as_delimited_text() {
    let labelled = "A 1.5 2.5 3\nB 4 5 6\n";
    assert_eq!(SampleFile::new("a.txt", labelled).info().format, "delimited text, spaces, no header");
    assert!(SampleFile::new("a.csv", glove(50)).read("").is_err());
    let counted = SampleFile::new("a.txt", "2\nA 1 2\nB 3 4\n");
    assert_eq!(counted.info().format, "delimited text, spaces, no header");
    // Both readers agree where both can read a text.
    let plain: Vec<u8> =
        [b"of", b"to"].iter().enumerate().flat_map(|(at, word)| line(*word, &vector(30, at))).collect();
    let (as_words, as_text) = (SampleFile::new("a.txt", &plain), SampleFile::new("a.csv", &plain));
    assert!(as_words.info().format.starts_with("word") && as_text.info().format.starts_with("delimited"));
    assert_eq!(as_words.table(""), as_text.table(""));
    assert_eq!(as_words.table("d3,7"), as_text.table("d3,7"));
}

#[test]
fn errors_report_the_line() {
    let error = |text: &str| SampleFile::new("a.vec", text).error();
    assert_eq!(
        error("2 3\na 1 2 3\nb 1 2\n"),
        "line 3, record 1: expected 3 numbers after the word, found 2"
    );
    let late = |line: &str| error(&("a 1.5 2 3\n".repeat(70) + line));
    assert_eq!(late("b 1 2\n"), "line 71, record 70: expected 3 numbers after the word, found 2");
    assert_eq!(
        late("b 1 two 3\n"),
        "line 71, record 70: `two` is not a number; expected 3 numbers after the word"
    );
    assert_eq!(error("hello\n"), "line 1: no numbers after a word");
    let count = |promised: usize| SampleFile::new("a.vec", format!("{promised} 2\na 1 2\nb 3 4\n")).error();
    assert_eq!(
        count(5),
        "words: the first line declares 5, but the file has 2; if the file is not cut short, correct that \
         line"
    );
    assert_eq!(
        count(1),
        "words: the first line declares 1, but the file has 2; if they all belong there, correct that line"
    );
    let sample = SampleFile::new("a.vec", "2 2\na 1 2\n\nb 3 nan\n");
    let source = crate::Source::File { path: sample.path.clone(), columns: ColumnChoice::Default };
    let message = crate::load(&source, false, &NoProgress).unwrap_err().to_string();
    assert!(message.starts_with("line 4, row 1, column `d2`: "), "{message}");
}

#[test]
fn words_are_available_as_a_column() {
    let sample = SampleFile::new("a.vec", glove(3));
    let ColumnData::Categories { names, codes } = column(&sample.path, "word", &NoProgress).unwrap() else {
        panic!("words are text")
    };
    assert_eq!((names[4].as_str(), names[7].as_str(), codes.len()), (". . .", "été", WORDS.len()));
    let ColumnData::Numbers(second) = column(&sample.path, "d2", &NoProgress).unwrap() else {
        panic!("they are numbers")
    };
    assert_eq!(second, (0..WORDS.len()).map(|at| vector(3, at)[1]).collect::<Vec<_>>());
    let found = records(&sample.path, &[6, 0], &NoProgress).unwrap();
    assert_eq!(found.columns, super::names(&["word", "d1", "d2", "d3"]));
    assert_eq!(found.rows[0][0], Cell::Text("at name@domain.com".to_owned()));
    assert_eq!(found.rows[1][1..], vector(3, 0).into_iter().map(Cell::Number).collect::<Vec<_>>());
    assert!(
        records(&sample.path, &[10], &NoProgress)
            .unwrap_err()
            .to_string()
            .starts_with("record 10: the file has 10 records")
    );
}
