use super::*;

/// A message of an object's header.
fn message(kind: u16, content: &[u8]) -> Vec<u8> {
    let size = content.len().next_multiple_of(8);
    let mut bytes = [&kind.to_le_bytes()[..], &(size as u16).to_le_bytes(), &[0; 4], content].concat();
    bytes.resize(8 + size, 0);
    bytes
}

fn object(messages: &[Vec<u8>]) -> Vec<u8> {
    let size = messages.iter().map(Vec::len).sum::<usize>() as u32;
    [
        &[1, 0][..],
        &(messages.len() as u16).to_le_bytes(),
        &1u32.to_le_bytes(),
        &size.to_le_bytes(),
        &[0; 4],
        &messages.concat(),
    ]
    .concat()
}

/// A hard link.
fn link(name: &str, address: u64) -> Vec<u8> {
    message(6, &[&[1, 0, name.len() as u8][..], name.as_bytes(), &address.to_le_bytes()].concat())
}

/// A group without links.
fn empty() -> Vec<u8> {
    object(&[message(2, &[&[0; 2][..], &[0xff; 16]].concat())])
}

/// A data set of these numbers, in its header.
fn numbers(values: &[f64]) -> Vec<u8> {
    let data: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
    let shape = [&[1, 1, 0, 0, 0, 0, 0, 0][..], &(values.len() as u64).to_le_bytes()].concat();
    let number = [0x11, 0x20, 0x3f, 0, 8, 0, 0, 0, 0, 0, 64, 0, 52, 11, 0, 52, 0xff, 3, 0, 0];
    let layout = [&[3, 0][..], &(data.len() as u16).to_le_bytes(), &data].concat();
    object(&[message(1, &shape), message(3, &number), message(8, &layout)])
}

/// Makes an object, given the addresses of all objects.
type Make<'m> = dyn Fn(&[u64]) -> Vec<u8> + 'm;

/// A file of objects. The first is the root.
fn file(objects: &[&Make<'_>]) -> Vec<u8> {
    const START: u64 = 96;
    let none = vec![0; objects.len()];
    let mut addresses = Vec::new();
    let mut end = START;
    for object in objects {
        addresses.push(end);
        end += object(&none).len() as u64;
    }
    let mut bytes = b"\x89HDF\r\n\x1a\n\0\0\0\0\0\x08\x08\0\x04\0\x10\0\0\0\0\0".to_vec();
    // Base, free space, end and driver; then the root's entry.
    [0, u64::MAX, end, u64::MAX, 0, START, 0, 0, 0].iter().for_each(|word| bytes.extend(word.to_le_bytes()));
    objects.iter().for_each(|object| bytes.extend(object(&addresses)));
    bytes
}

/// Groups, each linking the next several times.
fn fan(levels: usize, links: usize) -> Vec<u8> {
    let group = |level: usize| {
        move |at: &[u64]| {
            object(&(0..links).map(|name| link(&name.to_string(), at[level + 1])).collect::<Vec<_>>())
        }
    };
    let groups: Vec<_> = (0..levels).map(group).collect();
    let last = |_: &[u64]| empty();
    let objects: Vec<&Make<'_>> = groups.iter().map(|group| group as _).chain([&last as _]).collect();
    file(&objects)
}

#[test]
fn groups_linked_too_often_are_refused() {
    let sample = SampleFile::new("a.h5", fan(14, 4));
    let message = "groups that are linked more than once: each is listed under every name, which exceeds \
                   the limit of 10000";
    assert_eq!(sample.error(), message);
    assert!(datasets(&sample.path, &NoProgress).unwrap_err().to_string().starts_with(message));
    // A few paths are harmless.
    assert!(
        SampleFile::new("a.h5", fan(6, 4)).error().starts_with("no arrays: "),
        "{}",
        SampleFile::new("a.h5", fan(6, 4)).error()
    );
}

#[test]
fn groups_with_two_names_are_listed_twice() {
    let root = |at: &[u64]| object(&[link("a", at[1]), link("b", at[1])]);
    let group = |at: &[u64]| object(&[link("x", at[2]), link("up", at[0])]);
    let sample = SampleFile::new("a.h5", file(&[&root, &group, &|_| numbers(&[1.5, -2.0])]));
    let names: Vec<String> =
        datasets(&sample.path, &NoProgress).unwrap().into_iter().map(|dataset| dataset.name).collect();
    assert_eq!(names, ["a/x", "b/x"]);
    assert_eq!(sample.dataset("b/x"), [1.5, -2.0]);
}

/// A data set of `rows` rows of two numbers, in chunks of these sizes that were never written.
fn chunked(rows: u64, chunk: [u32; 2]) -> Vec<u8> {
    shaped([rows, 2], chunk)
}

/// Like [`chunked`], with any shape.
fn shaped(shape: [u64; 2], chunk: [u32; 2]) -> Vec<u8> {
    let shape = [&[1, 2, 0, 0, 0, 0, 0, 0][..], &shape[0].to_le_bytes(), &shape[1].to_le_bytes()].concat();
    let number = [0x11, 0x20, 0x3f, 0, 8, 0, 0, 0, 0, 0, 64, 0, 52, 11, 0, 52, 0xff, 3, 0, 0];
    let layout =
        [&[3, 2, 3][..], &[0xff; 8], &chunk[0].to_le_bytes(), &chunk[1].to_le_bytes(), &8u32.to_le_bytes()]
            .concat();
    let set = object(&[message(1, &shape), message(3, &number), message(8, &layout)]);
    let root = |at: &[u64]| object(&[link("x", at[1])]);
    file(&[&root, &|_| set.clone()])
}

#[test]
fn oversized_chunks_are_refused() {
    // Unwritten chunks are read, and chunks may be larger than the data.
    assert_eq!(SampleFile::new("a.h5", chunked(5, [64, 2])).table("").1, [0.0; 10]);
    assert_eq!(SampleFile::new("a.h5", chunked(5, [64, 2])).info().columns[1].max, Some(0.0));
    // Chunks of a gigabyte per row.
    let sample = SampleFile::new("a.h5", chunked(63, [1, 1 << 25]));
    let size = std::fs::metadata(&sample.path).unwrap().len();
    let message = format!(
        "data set `x`: its chunks declare 16911433728 bytes, which a file of {size} bytes cannot hold"
    );
    assert_eq!(sample.error(), message);
    assert!(describe(&sample.path, &NoProgress).unwrap_err().to_string().starts_with(&message));
    assert!(records(&sample.path, &[0], &NoProgress).unwrap_err().to_string().starts_with(&message));
    let message = SampleFile::new("a.h5", chunked(1 << 40, [64, 2])).error();
    assert!(message.starts_with("data set `x`: its shape declares 17592186044416 bytes"), "{message}");
}

#[test]
fn wide_data_sets_without_rows_are_refused() {
    let refused = "nothing to read: the header declares 0 rows";
    assert_eq!(SampleFile::new("a.h5", shaped([0, 4097], [1, 64])).error(), refused);
    let sample = SampleFile::new("a.h5", shaped([0, 4096], [1, 64]));
    assert_eq!(sample.info().columns.len(), 4096);
}

/// A data set of rows of two numbers, in its header.
fn pairs(values: &[f64]) -> Vec<u8> {
    let data: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
    let shape =
        [&[1, 2, 0, 0, 0, 0, 0, 0][..], &(values.len() as u64 / 2).to_le_bytes(), &2u64.to_le_bytes()]
            .concat();
    let number = [0x11, 0x20, 0x3f, 0, 8, 0, 0, 0, 0, 0, 64, 0, 52, 11, 0, 52, 0xff, 3, 0, 0];
    let layout = [&[3, 0][..], &(data.len() as u16).to_le_bytes(), &data].concat();
    object(&[message(1, &shape), message(3, &number), message(8, &layout)])
}

#[test]
fn damaged_default_data_sets_are_reported() {
    let root = |at: &[u64]| object(&[link("train", at[1]), link("test", at[2])]);
    let two = |layout: u16| {
        let mut train = pairs(&[1.0, 2.0, 3.0, 4.0]);
        // The kind and the size of the message.
        let kind = train.windows(4).position(|bytes| bytes == [8, 0, 40, 0]).unwrap();
        train[kind..kind + 2].copy_from_slice(&layout.to_le_bytes());
        SampleFile::new("a.hdf5", file(&[&root, &|_| train.clone(), &|_| pairs(&[5.0, 6.0])]))
    };
    assert_eq!(two(8).table("").1, [1.0, 2.0, 3.0, 4.0]);
    // The layout message has an unknown type.
    let unread = "data set `train`: it cannot be decoded (invalid data: dataset missing data layout)";
    let sample = two(0x1008);
    assert_eq!(sample.error(), format!("{unread}; choose another with FILE:NAME"));
    assert!(records(&sample.path, &[0], &NoProgress).is_err());
    assert!(sample.read_dataset("train").unwrap_err().to_string().starts_with(unread));
    assert_eq!(sample.dataset("test"), [5.0, 6.0]);
    // A data set with a link, like a group.
    let train = |at: &[u64]| {
        let mut train = pairs(&[1.0, 2.0]);
        // The message count precedes the messages.
        train[2] += 1;
        train.extend(link("x", at[2]));
        let size = train.len() as u32 - 16;
        train[8..12].copy_from_slice(&size.to_le_bytes());
        train
    };
    let mixed = SampleFile::new("a.hdf5", file(&[&root, &train, &|_| pairs(&[5.0, 6.0])])).error();
    assert_eq!(mixed, "group `train/`: its header describes both a group and a data set");
}

/// A root group with this many links to itself.
fn circle(links: usize) -> Vec<u8> {
    file(&[&|at: &[u64]| object(&(0..links).map(|name| link(&name.to_string(), at[0])).collect::<Vec<_>>())])
}

#[test]
fn groups_with_too_many_links_are_refused() {
    let message = "the root group: 60000 links in its header: at most 1024 are supported, because each \
                   look-up scans all of them; write it with h5repack IN OUT";
    assert_eq!(SampleFile::new("a.h5", circle(60_000)).error(), message);
    assert_eq!(SampleFile::new("a.h5", circle(1024)).error(), "no arrays: the file has none");
}

#[test]
fn repeated_links_count_towards_the_limit() {
    // Groups, each with a thousand links to the root.
    let nowhere = |groups: usize| {
        let root = |at: &[u64]| {
            object(&(1..=groups).map(|group| link(&group.to_string(), at[group])).collect::<Vec<_>>())
        };
        let group =
            |at: &[u64]| object(&(0..1000).map(|name| link(&name.to_string(), at[0])).collect::<Vec<_>>());
        let objects: Vec<&Make<'_>> =
            [&root as &Make<'_>].into_iter().chain((0..groups).map(|_| &group as &Make<'_>)).collect();
        SampleFile::new("a.h5", file(&objects)).error()
    };
    let message = "groups that are linked more than once: each is listed under every name, which exceeds \
                   the limit of 10000";
    assert_eq!(nowhere(11), message);
    assert_eq!(nowhere(10), "no arrays: the file has none");
}

#[test]
fn unlisted_data_sets_open_by_name() {
    // Twenty groups with the same thousand data sets. The first data set has more rows.
    let root = |at: &[u64]| {
        object(&(0..20).map(|group| link(&format!("g{group}"), at[1 + group])).collect::<Vec<_>>())
    };
    let group = |at: &[u64]| {
        object(
            &(0..1000)
                .map(|name| link(&format!("s{name}"), at[if name == 0 { 21 } else { 22 }]))
                .collect::<Vec<_>>(),
        )
    };
    let objects: Vec<&Make<'_>> = [&root as &Make<'_>]
        .into_iter()
        .chain((0..20).map(|_| &group as &Make<'_>))
        .chain([&|_: &[u64]| pairs(&[1.0, 2.0, 3.0, 4.0]), &|_: &[u64]| pairs(&[5.0, 6.0])] as [&Make<'_>; 2])
        .collect();
    let sample = SampleFile::new("a.h5", file(&objects));
    let datasets = datasets(&sample.path, &NoProgress).unwrap();
    assert_eq!(datasets.len(), limits::MAX_HDF5_DATASETS);
    let message = sample.error();
    assert!(
        message.starts_with(
            "too many data sets to list: choose one with FILE:NAME; the first are `g0/s0` (2 × \
             2), "
        ),
        "{message}"
    );
    let last = "g19/s999";
    assert!(datasets.iter().all(|dataset| dataset.name != last));
    assert_eq!(sample.dataset(last), [5.0, 6.0]);
    assert_eq!(sample.dataset(&datasets[0].name), [1.0, 2.0, 3.0, 4.0]);
    let message = sample.read_dataset("g19/s1000").unwrap_err().to_string();
    assert!(message.starts_with("part `g19/s1000`: not found: "), "{message}");
}

#[test]
fn memory_for_chunks_is_claimed_before_reading() {
    // One chunk of 16 MiB.
    let sample = SampleFile::new("a.h5", chunked(5, [1 << 20, 2]));
    for free in [1 << 20, 1 << 27] {
        let input = || Input::new(&sample.path, &NoProgress).unwrap().with_free(free);
        let format = recognise(&input()).unwrap();
        let read = (format.read)(&input(), &ColumnRequest::Everything);
        let records = (format.records)(&input(), &[4, 0]);
        assert_eq!(matches!(read, Err(FormatError::Memory { .. })), free == 1 << 20, "{read:?}");
        assert_eq!(matches!(records, Err(FormatError::Memory { .. })), free == 1 << 20, "{records:?}");
    }
}
