//! `mlx-native train digits`: a small network learns handwritten digits.

mod data;
mod network;
mod output;

use std::io::{IsTerminal, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use indicatif::{ProgressBar, ProgressStyle};
use mlx_native::optim::{Adam, AdamOptions};
use mlx_native::{MlxDevice, Result, Stream, autograd};
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

use data::Digits;
use network::Network;

const BATCH: usize = 32;
const HIDDEN: usize = 128;
const LEARNING_RATE: f64 = 2e-3;

/// What is trained.
#[derive(clap::Args)]
pub struct Arguments {
    #[command(subcommand)]
    task: Task,
}

#[derive(clap::Subcommand)]
enum Task {
    /// A network with one hidden layer on 1,797 images of handwritten digits, of which a fifth is
    /// held out. Writes model.safetensors, history.csv and loss.svg.
    Digits {
        /// Times that it sees all images.
        #[arg(long, default_value_t = 30, value_parser = clap::value_parser!(u32).range(1..))]
        epochs: u32,
        /// Chooses the split, the first weights and the order.
        #[arg(long, default_value_t = 0)]
        seed: u64,
        /// Where to run it: cpu, cuda or metal; the best there is if left out.
        #[arg(long)]
        device: Option<String>,
        /// The folder for what it writes; made if it is not there.
        #[arg(long, value_name = "DIR", default_value = "runs/digits")]
        out: PathBuf,
        /// Run kernel texts only, no native implementations.
        #[arg(long)]
        kernels_only: bool,
    },
}

/// Figures of an epoch.
pub struct Epoch {
    pub number: u32,
    pub train: Score,
    pub test: Score,
}

/// Mean loss and share of right answers.
#[derive(Clone, Copy, Default)]
pub struct Score {
    pub loss: f64,
    pub accuracy: f64,
}

/// Trains, shows how it goes, and writes the results.
pub fn train(arguments: &Arguments) -> std::result::Result<ExitCode, String> {
    let Task::Digits {
        epochs,
        seed,
        device,
        out,
        kernels_only,
    } = &arguments.task;
    let device = crate::open(device.as_deref())?;
    device.set_execution(crate::execution(*kernels_only));
    crate::stop_on_ctrl_c(&device)?;
    output::prepare(out)?;
    let mut random = ChaCha8Rng::seed_from_u64(*seed);
    let digits = Digits::load(&mut random)?;
    let (network, history) =
        learn(&device, &digits, *epochs, &mut random).map_err(|error| error.to_string())?;
    let tensors = network.named().map_err(|error| error.to_string())?;
    output::write(out, &tensors, &history, *seed)?;
    eprintln!(
        "wrote model.safetensors, history.csv and loss.svg to {}",
        out.display()
    );
    let accuracy = history.last().map_or(0.0, |epoch| epoch.test.accuracy);
    println!("test accuracy: {accuracy:.4}");
    Ok(ExitCode::SUCCESS)
}

fn learn(
    device: &MlxDevice,
    digits: &Digits,
    epochs: u32,
    random: &mut ChaCha8Rng,
) -> Result<(Network, Vec<Epoch>)> {
    let stream = Stream::new(device)?;
    let mut network = Network::new(&stream, [data::PIXELS, HIDDEN, data::CLASSES], random)?;
    let mut adam = Adam::new(AdamOptions {
        learning_rate: LEARNING_RATE,
        ..AdamOptions::default()
    });
    let progress = Progress::new(epochs, digits.train.len().div_ceil(BATCH));
    let mut order: Vec<usize> = (0..digits.train.len()).collect();
    let mut history = Vec::new();
    for number in 1..=epochs {
        order.shuffle(random);
        for batch in order.chunks(BATCH) {
            let (images, labels) = digits.train.tensors(&stream, batch)?;
            let loss = network.logits(&images)?.log_softmax(1)?.nll(&labels)?;
            let gradients = loss.mean_all()?.backward()?;
            drop(loss);
            adam.step(network.parameters(), &gradients)?;
            progress.step();
        }
        let epoch = Epoch {
            number,
            train: network.score(&stream, &digits.train)?,
            test: network.score(&stream, &digits.test)?,
        };
        progress.epoch(&epoch, epochs);
        history.push(epoch);
    }
    progress.bar.finish_and_clear();
    Ok((network, history))
}

impl Network {
    /// Loss and accuracy over all images.
    fn score(&self, stream: &Stream, set: &data::Set) -> Result<Score> {
        autograd::without_history(|| {
            let everything: Vec<usize> = (0..set.len()).collect();
            let (images, labels) = set.tensors(stream, &everything)?;
            let logits = self.logits(&images)?;
            let loss = logits
                .log_softmax(1)?
                .nll(&labels)?
                .mean_all()?
                .item::<f32>()?;
            let logits = logits.to_vec::<f32>()?;
            let rows = logits.chunks(data::CLASSES).zip(set.labels());
            let right = rows.filter(|(row, label)| largest(row) == **label).count();
            Ok(Score {
                loss: loss.into(),
                accuracy: right as f64 / set.len() as f64,
            })
        })
    }
}

/// The place of the largest number.
fn largest(row: &[f32]) -> u32 {
    let numbered = (0..).zip(row);
    let best = numbered.max_by(|a, b| a.1.total_cmp(b.1));
    best.map_or(0, |(place, _)| place)
}

/// A bar on a terminal; elsewhere a line for each epoch.
struct Progress {
    bar: ProgressBar,
    is_terminal: bool,
}

impl Progress {
    fn new(epochs: u32, batches: usize) -> Self {
        let is_terminal = std::io::stderr().is_terminal();
        let bar = match is_terminal {
            true => ProgressBar::new(u64::from(epochs) * batches as u64),
            false => ProgressBar::hidden(),
        };
        // The template is a constant; the plain bar would do as well.
        if let Ok(style) = ProgressStyle::with_template("{bar:30} {percent:>3}% {msg} ({eta} left)")
        {
            bar.set_style(style);
        }
        Self { bar, is_terminal }
    }

    fn step(&self) {
        self.bar.inc(1);
    }

    fn epoch(&self, epoch: &Epoch, epochs: u32) {
        let figures = format!(
            "epoch {}/{epochs}: loss {:.4}, accuracy {:.4}; held out: loss {:.4}, accuracy {:.4}",
            epoch.number,
            epoch.train.loss,
            epoch.train.accuracy,
            epoch.test.loss,
            epoch.test.accuracy
        );
        if self.is_terminal {
            self.bar.set_message(figures);
        } else {
            // Whoever closed stderr does not want to hear.
            let _ = writeln!(std::io::stderr(), "{figures}");
        }
    }
}
