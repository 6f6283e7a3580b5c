//! Images of people in the scene, with smaller copies so that distant ones do not flicker.

use std::sync::Arc;

use glam::{DQuat, DVec3};

use super::{
    image::Image,
    raster::{Canvas, Vertex},
    view::Billboard,
};

/// Maximum width of a billboard, in m.
const MAX_WIDTH_M: f64 = 100.0;

/// Mipmaps of the billboards in the scene.
#[derive(Debug, Default)]
pub(super) struct MipmapCache {
    mipmaps: Vec<Mipmap>,
}

/// An image and its copies at 1/2, 1/4, ... of the size.
#[derive(Debug)]
struct Mipmap {
    picture: Arc<Image>,
    smaller: Vec<Image>,
}

impl Mipmap {
    fn new(picture: &Arc<Image>) -> Self {
        let mut smaller = Vec::new();
        let mut last: &Image = picture;
        while last.width.min(last.height) >= 16 {
            smaller.push(last.resized(last.width / 2, last.height / 2));
            let Some(next) = smaller.last() else { break };
            last = next;
        }
        Self { picture: Arc::clone(picture), smaller }
    }

    /// The level at which a screen pixel covers about one image pixel, if it covers `pixels` of the full-size image.
    fn fitting(&self, pixels: f64) -> &Image {
        let level = pixels.max(1.0).log2().round() as usize;
        let Some(level) = level.checked_sub(1) else { return &self.picture };
        self.smaller.get(level).or(self.smaller.last()).unwrap_or(&self.picture)
    }
}

impl MipmapCache {
    /// Drops mipmaps that are no longer needed, and builds missing ones.
    pub(super) fn keep_only(&mut self, people: &[Billboard]) {
        let same = |mipmap: &Mipmap, person: &Billboard| Arc::ptr_eq(&mipmap.picture, &person.picture);
        self.mipmaps.retain(|mipmap| people.iter().any(|person| same(mipmap, person)));
        for person in people {
            if is_valid(&person.picture) && !self.mipmaps.iter().any(|mipmap| same(mipmap, person)) {
                self.mipmaps.push(Mipmap::new(&person.picture));
            }
        }
    }

    /// Draws a billboard passed to [`keep_only`](Self::keep_only). Others are ignored.
    pub(super) fn draw(&self, canvas: &mut Canvas, person: &Billboard, (eye, turn): (DVec3, DQuat)) {
        let mipmap = self.mipmaps.iter().find(|mipmap| Arc::ptr_eq(&mipmap.picture, &person.picture));
        let Some(mipmap) = mipmap else { return };
        let middle = DVec3::from(person.position);
        if !(middle.is_finite() && person.width_m > 0.0 && person.width_m <= MAX_WIDTH_M) {
            return;
        }
        let away = middle - eye;
        let forward = turn * DVec3::X;
        // straight above or below the billboard it faces against the camera's own direction
        let flat = DVec3::new(away.x, away.y, 0.0).try_normalize();
        let flat = flat.or(DVec3::new(forward.x, forward.y, 0.0).try_normalize()).unwrap_or(DVec3::X);
        let right = flat.cross(DVec3::Z) * (person.width_m / 2.0);
        let up = DVec3::Z * (person.width_m / 2.0 * mipmap.picture.height as f64 / mipmap.picture.width as f64);
        let corner = |x: f64, y: f64| {
            let point = turn.inverse() * (away + right * x + up * y);
            Vertex { point: point.as_vec3(), values: [(0.5 + x / 2.0) as f32, (0.5 - y / 2.0) as f32] }
        };
        let corners = [corner(-1.0, -1.0), corner(1.0, -1.0), corner(1.0, 1.0), corner(-1.0, 1.0)];
        let shown = f64::from(canvas.focal) * person.width_m / away.length().max(0.01);
        let picture = mipmap.fitting(mipmap.picture.width as f64 / shown.max(1.0));
        let paint = |pixel: &mut [u8; 3], near: f32, [u, v]: [f32; 2]| *pixel = sample(picture, u / near, v / near);
        canvas.clipped(&[corners[0], corners[1], corners[2]], true, true, &paint);
        canvas.clipped(&[corners[0], corners[2], corners[3]], true, true, &paint);
    }
}

fn is_valid(picture: &Image) -> bool {
    let pixels = picture.width.checked_mul(picture.height).and_then(|pixels| pixels.checked_mul(3));
    !picture.rgb.is_empty() && pixels == Some(picture.rgb.len())
}

/// Bilinear sample of an image at `u` from the left and `v` from the top, 0 to 1.
fn sample(picture: &Image, u: f32, v: f32) -> [u8; 3] {
    let along = |part: f32, count: usize| {
        let pixel = (part * count as f32 - 0.5).clamp(0.0, (count - 1) as f32);
        let whole = pixel as usize;
        (whole, (whole + 1).min(count - 1), pixel - whole as f32)
    };
    let ((left, right, x), (upper, lower, y)) = (along(u, picture.width), along(v, picture.height));
    let pixel = |x: usize, y: usize| picture.pixel(x, y).unwrap_or_default().map(f32::from);
    let [a, b, c, d] = [pixel(left, upper), pixel(right, upper), pixel(left, lower), pixel(right, lower)];
    [0, 1, 2].map(|i| {
        let (top, bottom) = (a[i] + x * (b[i] - a[i]), c[i] + x * (d[i] - c[i]));
        (top + y * (bottom - top) + 0.5) as u8
    })
}
