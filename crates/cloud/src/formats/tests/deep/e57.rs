use super::*;

/// Bytes of a page without its checksum.
const PAGE: usize = 1020;

/// CRC-32C.
fn checksum(page: &[u8]) -> u32 {
    !page.iter().fold(u32::MAX, |sum, &byte| {
        (0..8).fold(
            sum ^ u32::from(byte),
            |sum, _| if sum & 1 == 1 { sum >> 1 ^ 0x82f6_3b78 } else { sum >> 1 },
        )
    })
}

/// The bytes of a scan of twenty points without page checksums, and its description.
fn whole() -> (Vec<u8>, String) {
    let whole = super::super::e57::one();
    let mut content: Vec<u8> = whole.chunks(PAGE + 4).flat_map(|page| &page[..PAGE]).copied().collect();
    let number = |at: usize| u64::from_le_bytes(*whole[at..].first_chunk().unwrap()) as usize;
    let start = number(24) - number(24) / (PAGE + 4) * 4;
    let xml = String::from_utf8(content[start..start + number(32)].to_vec()).unwrap();
    content.truncate(start);
    (content, xml)
}

/// A file with this content and description.
fn paged(mut content: Vec<u8>, xml: &str) -> SampleFile {
    let start = content.len() + content.len() / PAGE * 4;
    content.extend(xml.as_bytes());
    content.resize(content.len().next_multiple_of(PAGE), 0);
    for (at, number) in [(16, content.len() / PAGE * (PAGE + 4)), (24, start), (32, xml.len())] {
        content[at..at + 8].copy_from_slice(&(number as u64).to_le_bytes());
    }
    SampleFile::new(
        "a.e57",
        content
            .chunks(PAGE)
            .flat_map(|page| [page, &checksum(page).to_be_bytes()].concat())
            .collect::<Vec<_>>(),
    )
}

/// A file with this text inserted after the root's start tag in its description.
fn with(inserted: &str) -> SampleFile {
    let (content, mut xml) = whole();
    let root = xml.find("<e57Root").unwrap();
    let at = root + xml[root..].find('>').unwrap() + 1;
    xml.insert_str(at, inserted);
    paged(content, &xml)
}

fn nested(depth: usize) -> String {
    ["<a>".repeat(depth), "</a>".repeat(depth)].concat()
}

#[test]
fn deeply_nested_elements_are_refused() {
    assert_eq!(
        with(&nested(100_000)).error(),
        "description of the scans: elements nest 100001 levels deep; at most 64 are supported"
    );
    assert_eq!(
        with(&nested(64)).error(),
        "description of the scans: elements nest 65 levels deep; at most 64 are supported"
    );
    assert_eq!(with(&nested(63)).table("").1.len(), 60);
}

#[test]
fn too_many_nested_namespaces_are_refused() {
    let nested = |depth: usize| {
        let names: String =
            (0..depth).map(|at| format!("<a xmlns:n{at}='{at}' xmlns:m{at} = '{at}'>")).collect();
        with(&[names, "</a>".repeat(depth)].concat())
    };
    let message = "description of the scans: nested elements declare 65 namespaces; at most 64 are \
                   supported";
    assert_eq!(nested(4000).error(), message);
    assert_eq!(nested(32).error(), message);
    assert_eq!(nested(31).table("").1.len(), 60);
}

#[test]
fn elements_with_too_many_attributes_are_refused() {
    let attributes: String = (0..200_000).map(|at| format!(" a{at}=''")).collect();
    assert_eq!(
        with(&format!("<a{attributes}/>")).error(),
        "description of the scans: an element has more than 256 attributes, the supported maximum"
    );
    let attributes: String =
        (0..256).map(|at| format!(" a{at}=\"/> = <a>'\"")).collect::<String>().replace('<', "&lt;");
    assert_eq!(with(&format!("<a{attributes}/>")).table("").1.len(), 60);
}

#[test]
fn comments_and_cdata_do_not_count_as_nesting() {
    let open = "<a>".repeat(100);
    assert_eq!(with(&format!("<a/>{}", "<a b='c'/>".repeat(1000))).table("").1.len(), 60);
    assert_eq!(with(&format!("<!-- {open} --><![CDATA[ {open} ]]><?a {open} ?>")).table("").1.len(), 60);
}

#[test]
fn attributes_without_names_are_counted_in_linear_time() {
    let started = std::time::Instant::now();
    let message = with(&format!("<a{}/>", "=".repeat(2_000_000))).error();
    assert_eq!(
        message,
        "description of the scans: an element has more than 256 attributes, the supported maximum"
    );
    // Scanning back from each attribute would take hours.
    assert!(started.elapsed().as_secs() < 60, "{:?}", started.elapsed());
}

/// A packet with a number of zeros of each attribute.
fn packet(sizes: [u16; 9]) -> Vec<u8> {
    let mut bytes = [&[1, 0, 0, 0, 9, 0][..], &sizes.map(u16::to_le_bytes).concat()].concat();
    bytes.resize(bytes.len() + sizes.iter().map(|&size| usize::from(size)).sum::<usize>(), 0);
    bytes.resize(bytes.len().next_multiple_of(4), 0);
    let length = bytes.len() as u16 - 1;
    bytes[2..4].copy_from_slice(&length.to_le_bytes());
    bytes
}

/// A scan whose points follow packets of one-bit values.
fn late(packets: usize) -> SampleFile {
    let (mut content, xml) = whole();
    // The header of the file and of the points.
    content.truncate(48 + 32);
    content.extend(packet([0, 0, 0, 0, 0, 60_000, 0, 0, 0]).repeat(packets));
    content.extend(packet([80, 160, 160, 5, 25, 3, 0, 20, 20]));
    paged(content, &xml)
}

#[test]
fn buffered_attribute_values_are_limited() {
    assert_eq!(late(0).table("").1, [100.0, 200.0, 300.0].repeat(20));
    let sample = late(2);
    assert_eq!(sample.table("").1.len(), 60);
    for free in [1 << 24, 1 << 27] {
        let input = Input::new(&sample.path, &NoProgress).unwrap().with_free(free);
        let read = (recognise(&input).unwrap().read)(&input, &ColumnRequest::Everything);
        assert_eq!(matches!(read, Err(FormatError::Memory { .. })), free == 1 << 24, "{read:?}");
    }
    let sample = late(3);
    let message = "1440000 values of an attribute before those of others: at most 1048576 are \
                   supported; convert it to LAS or PLY";
    assert_eq!(sample.error(), message);
    assert!(records(&sample.path, &[0], &NoProgress).unwrap_err().to_string().starts_with(message));
}
