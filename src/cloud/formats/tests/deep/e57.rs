use super::*;

/// Bytes of a page without its checksum.
const PAGE: usize = 1020;

/// CRC-32C.
fn checksum(page: &[u8]) -> u32 {
    !page
        .iter()
        .fold(u32::MAX, |sum, &byte| (0..8).fold(sum ^ u32::from(byte), |sum, _| if sum & 1 == 1 { sum >> 1 ^ 0x82f6_3b78 } else { sum >> 1 }))
}

/// A file whose description has this behind the beginning of its root.
fn with(inserted: &str) -> Sample {
    let whole = super::super::e57::one();
    let mut content: Vec<u8> = whole.chunks(PAGE + 4).flat_map(|page| &page[..PAGE]).copied().collect();
    let number = |at: usize| u64::from_le_bytes(*whole[at..].first_chunk().unwrap()) as usize;
    let start = number(24) - number(24) / (PAGE + 4) * 4;
    let mut xml = String::from_utf8(content[start..start + number(32)].to_vec()).unwrap();
    let root = xml.find("<e57Root").unwrap();
    let at = root + xml[root..].find('>').unwrap() + 1;
    xml.insert_str(at, inserted);
    content.truncate(start);
    content.extend(xml.as_bytes());
    content.resize(content.len().next_multiple_of(PAGE), 0);
    let size = (content.len() / PAGE * (PAGE + 4)) as u64;
    content[16..24].copy_from_slice(&size.to_le_bytes());
    content[32..40].copy_from_slice(&(xml.len() as u64).to_le_bytes());
    Sample::new("a.e57", content.chunks(PAGE).flat_map(|page| [page, &checksum(page).to_be_bytes()].concat()).collect::<Vec<_>>())
}

fn nested(depth: usize) -> String {
    ["<a>".repeat(depth), "</a>".repeat(depth)].concat()
}

#[test]
fn elements_within_elements() {
    assert_eq!(with(&nested(100_000)).error(), "description of the scans: elements nest 100001 deep, and the most that is read is 64");
    assert_eq!(with(&nested(64)).error(), "description of the scans: elements nest 65 deep, and the most that is read is 64");
    assert_eq!(with(&nested(63)).table("").1.len(), 60);
}

#[test]
fn namespaces_within_namespaces() {
    let nested = |depth: usize| {
        let names: String = (0..depth).map(|at| format!("<a xmlns:n{at}='{at}' xmlns:m{at} = '{at}'>")).collect();
        with(&[names, "</a>".repeat(depth)].concat())
    };
    let message = "description of the scans: elements within one another declare 65 namespaces, and the most that are read are 64";
    assert_eq!(nested(4000).error(), message);
    assert_eq!(nested(32).error(), message);
    assert_eq!(nested(31).table("").1.len(), 60);
}

#[test]
fn elements_with_many_attributes() {
    let attributes: String = (0..200_000).map(|at| format!(" a{at}=''")).collect();
    assert_eq!(
        with(&format!("<a{attributes}/>")).error(),
        "description of the scans: an element has 200000 attributes, and the most that are read are 256"
    );
    let attributes: String = (0..256).map(|at| format!(" a{at}=\"/> = <a>'\"")).collect::<String>().replace('<', "&lt;");
    assert_eq!(with(&format!("<a{attributes}/>")).table("").1.len(), 60);
}

#[test]
fn what_is_no_element_does_not_count() {
    let open = "<a>".repeat(100);
    assert_eq!(with(&format!("<a/>{}", "<a b='c'/>".repeat(1000))).table("").1.len(), 60);
    assert_eq!(with(&format!("<!-- {open} --><![CDATA[ {open} ]]><?a {open} ?>")).table("").1.len(), 60);
}
