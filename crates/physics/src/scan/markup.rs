//! Bounds the markup of a text before it is parsed: the parser's time grows with the square of the number of attributes of
//! an element, and of namespaces.

use crate::{error::ModelError, limits::Limits, scan::at_most};

/// Largest number of namespace declarations; a URDF file may have one for each of its tools.
const MAX_NAMESPACES: u64 = 16;

/// Counts attributes, namespaces and nested elements in one pass. What is not well-formed is left to the parser, which
/// reads no further than this does.
pub(super) fn check(file: &str, text: &str, limits: &Limits) -> Result<(), ModelError> {
    let mut rest = text;
    let (mut depth, mut namespaces) = (0_u64, 0_u64);
    while let Some((_, from)) = rest.split_once('<') {
        let end_of_other = [("!--", "-->"), ("![CDATA[", "]]>"), ("?", "?>")]
            .into_iter()
            .find_map(|(start, end)| from.strip_prefix(start).map(|inside| (inside, end)));
        if let Some((inside, end)) = end_of_other {
            let Some((_, after)) = inside.split_once(end) else { return Ok(()) };
            rest = after;
        } else if let Some(after) = from.strip_prefix('/') {
            depth = depth.saturating_sub(1);
            rest = after;
        } else {
            let tag = Tag::scan(from);
            namespaces += tag.namespaces;
            depth += u64::from(!tag.is_closed);
            at_most(file, "number of attributes of an element", tag.attributes, limits.attributes)?;
            at_most(file, "number of namespaces", namespaces, MAX_NAMESPACES)?;
            // the document's element has depth 0
            at_most(file, "nesting of elements", depth.saturating_sub(1), limits.depth.into())?;
            rest = tag.after;
        }
    }
    Ok(())
}

/// A start tag.
struct Tag<'a> {
    attributes: u64,
    namespaces: u64,
    /// Whether it ends with `/>`.
    is_closed: bool,
    /// The text after it.
    after: &'a str,
}

impl<'a> Tag<'a> {
    /// Reads a start tag, whose `<` has been read.
    fn scan(text: &'a str) -> Self {
        let mut tag = Self { attributes: 0, namespaces: 0, is_closed: false, after: "" };
        let mut rest = text;
        // every value is between two quotes of the same kind
        while let Some(at) = rest.find(['=', '>', '"', '\'']) {
            let (before, from) = rest.split_at(at);
            rest = from.get(1..).unwrap_or_default();
            match from.as_bytes().first() {
                Some(b'=') => {
                    tag.attributes += 1;
                    let name = before.trim_ascii().rsplit(|c: char| c.is_ascii_whitespace()).next().unwrap_or_default();
                    tag.namespaces += u64::from(name.starts_with("xmlns"));
                }
                Some(b'>') => {
                    tag.is_closed = before.ends_with('/');
                    tag.after = rest;
                    return tag;
                }
                Some(quote) => {
                    let Some((_, after)) = rest.split_once(char::from(*quote)) else { return tag };
                    rest = after;
                }
                None => return tag,
            }
        }
        tag
    }
}
