//! The bundled digits (`data/README.md` says where they are from).

use std::io::Read;

use flate2::read::GzDecoder;
use mlx_native::{Result, Stream, Tensor};
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

const DIGITS: &[u8] = include_bytes!("../../data/digits.csv.gz");

/// Pixels of an image.
pub const PIXELS: usize = 64;
/// Digits.
pub const CLASSES: usize = 10;
/// Pixels go from 0 to this.
const WHITE: f32 = 16.0;
/// One in so many images is held out.
const HELD_OUT: usize = 5;

/// Images and their digits.
#[derive(Default)]
pub struct Set {
    /// In rows of [`PIXELS`], from 0 to 1.
    pixels: Vec<f32>,
    labels: Vec<u32>,
}

impl Set {
    pub fn len(&self) -> usize {
        self.labels.len()
    }

    pub fn labels(&self) -> &[u32] {
        &self.labels
    }

    fn image(&self, index: usize) -> &[f32] {
        &self.pixels[index * PIXELS..(index + 1) * PIXELS]
    }

    fn push(&mut self, pixels: &[f32], label: u32) {
        self.pixels.extend_from_slice(pixels);
        self.labels.push(label);
    }

    /// These images and their digits as tensors.
    pub fn tensors(&self, stream: &Stream, indices: &[usize]) -> Result<(Tensor, Tensor)> {
        let pixels: Vec<f32> = indices
            .iter()
            .flat_map(|&i| self.image(i))
            .copied()
            .collect();
        let labels: Vec<u32> = indices.iter().map(|&i| self.labels[i]).collect();
        Ok((
            Tensor::from_slice(stream, &pixels, [indices.len(), PIXELS])?,
            Tensor::from_slice(stream, &labels, [indices.len()])?,
        ))
    }
}

/// The digits, split.
pub struct Digits {
    pub train: Set,
    pub test: Set,
}

impl Digits {
    /// A random split.
    pub fn load(random: &mut ChaCha8Rng) -> std::result::Result<Self, String> {
        let all = read().map_err(|error| format!("the bundled digits are damaged: {error}"))?;
        let mut order: Vec<usize> = (0..all.len()).collect();
        order.shuffle(random);
        let (mut train, mut test) = (Set::default(), Set::default());
        for (place, &i) in order.iter().enumerate() {
            let set = if place < all.len() / HELD_OUT {
                &mut test
            } else {
                &mut train
            };
            set.push(all.image(i), all.labels[i]);
        }
        Ok(Self { train, test })
    }
}

fn read() -> std::result::Result<Set, Box<dyn std::error::Error>> {
    let mut text = String::new();
    GzDecoder::new(DIGITS).read_to_string(&mut text)?;
    let mut reader = csv::ReaderBuilder::new()
        .has_headers(false)
        .from_reader(text.as_bytes());
    let mut set = Set::default();
    for record in reader.deserialize() {
        let numbers: Vec<u32> = record?;
        let (Some(&label), PIXELS) = (numbers.last(), numbers.len() - 1) else {
            return Err(format!("a line has {} numbers", numbers.len()).into());
        };
        let pixels: Vec<f32> = numbers[..PIXELS]
            .iter()
            .map(|&p| p as f32 / WHITE)
            .collect();
        set.push(&pixels, label);
    }
    Ok(set)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;

    #[test]
    fn a_fifth_is_held_out_and_every_image_is_used_once() {
        let digits = Digits::load(&mut ChaCha8Rng::seed_from_u64(1)).unwrap();
        assert_eq!((digits.train.len(), digits.test.len()), (1438, 359));
        let all = read().unwrap();
        let sum = |set: &Set| set.pixels.iter().map(|&p| f64::from(p)).sum::<f64>();
        assert_eq!(sum(&digits.train) + sum(&digits.test), sum(&all));
        assert!(all.labels.iter().all(|&label| label < CLASSES as u32));
        let other = Digits::load(&mut ChaCha8Rng::seed_from_u64(2)).unwrap();
        assert_ne!(digits.test.labels, other.test.labels);
    }
}
