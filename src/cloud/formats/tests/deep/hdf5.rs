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
    [&[1, 0][..], &(messages.len() as u16).to_le_bytes(), &1u32.to_le_bytes(), &size.to_le_bytes(), &[0; 4], &messages.concat()].concat()
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

/// Makes an object from the addresses of all.
type Make<'m> = dyn Fn(&[u64]) -> Vec<u8> + 'm;

/// A file of objects, the first of which is the root.
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

/// Groups, each of which holds the next several times.
fn fan(levels: usize, links: usize) -> Vec<u8> {
    let group = |level: usize| move |at: &[u64]| object(&(0..links).map(|name| link(&name.to_string(), at[level + 1])).collect::<Vec<_>>());
    let groups: Vec<_> = (0..levels).map(group).collect();
    let last = |_: &[u64]| empty();
    let objects: Vec<&Make<'_>> = groups.iter().map(|group| group as _).chain([&last as _]).collect();
    file(&objects)
}

#[test]
fn groups_that_are_linked_again_and_again() {
    let sample = Sample::new("a.h5", fan(14, 4));
    let message = "groups that are linked more than once: each is listed under all its names, at most 10000 in all, and there are more";
    assert_eq!(sample.error(), message);
    assert!(parts(&sample.path, &Silent).unwrap_err().to_string().starts_with(message));
    // A few are harmless.
    assert!(Sample::new("a.h5", fan(6, 4)).error().starts_with("no arrays: "), "{}", Sample::new("a.h5", fan(6, 4)).error());
}

#[test]
fn groups_with_two_names_are_listed_under_both() {
    let root = |at: &[u64]| object(&[link("a", at[1]), link("b", at[1])]);
    let group = |at: &[u64]| object(&[link("x", at[2]), link("up", at[0])]);
    let sample = Sample::new("a.h5", file(&[&root, &group, &|_| numbers(&[1.5, -2.0])]));
    let names: Vec<String> = parts(&sample.path, &Silent).unwrap().into_iter().map(|part| part.name).collect();
    assert_eq!(names, ["a/x", "b/x"]);
    assert_eq!(sample.part("b/x"), [1.5, -2.0]);
}

/// A data set of `rows` rows of two numbers, in chunks of these sizes that were never written.
fn chunked(rows: u64, chunk: [u32; 2]) -> Vec<u8> {
    let shape = [&[1, 2, 0, 0, 0, 0, 0, 0][..], &rows.to_le_bytes(), &2u64.to_le_bytes()].concat();
    let number = [0x11, 0x20, 0x3f, 0, 8, 0, 0, 0, 0, 0, 64, 0, 52, 11, 0, 52, 0xff, 3, 0, 0];
    let layout = [&[3, 2, 3][..], &[0xff; 8], &chunk[0].to_le_bytes(), &chunk[1].to_le_bytes(), &8u32.to_le_bytes()].concat();
    let set = object(&[message(1, &shape), message(3, &number), message(8, &layout)]);
    let root = |at: &[u64]| object(&[link("x", at[1])]);
    file(&[&root, &|_| set.clone()])
}

#[test]
fn chunks_that_reach_far_beyond_the_data() {
    // What was never written is read, and chunks may be larger than the data.
    assert_eq!(Sample::new("a.h5", chunked(5, [64, 2])).table("").1, [0.0; 10]);
    assert_eq!(Sample::new("a.h5", chunked(5, [64, 2])).info().columns[1].max, Some(0.0));
    // A gigabyte for each row.
    let sample = Sample::new("a.h5", chunked(63, [1, 1 << 25]));
    let size = std::fs::metadata(&sample.path).unwrap().len();
    let message = format!("data set `x`: its chunks promise 16911433728 bytes, which a file of {size} bytes cannot hold");
    assert_eq!(sample.error(), message);
    assert!(describe(&sample.path, &Silent).unwrap_err().to_string().starts_with(&message));
    assert!(records(&sample.path, &[0], &Silent).unwrap_err().to_string().starts_with(&message));
    let message = Sample::new("a.h5", chunked(1 << 40, [64, 2])).error();
    assert!(message.starts_with("data set `x`: its shape promises 17592186044416 bytes"), "{message}");
}
