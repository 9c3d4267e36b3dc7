//! The registry: kernel texts by name, compiled when first asked for.

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::sync::{Arc, Mutex, OnceLock};

use msl::Compilation;
use msl::ir::Module;

use crate::backend::KernelText;
use crate::error::{MlxError, Result};
use crate::metal::DeviceRef;
use crate::ops;
use crate::pipeline::Pipeline;
use crate::sync::lock;

/// Kernel texts by name, and the pipelines made from them.
///
/// A new registry knows every built-in kernel. A text registered under an existing name takes its
/// place.
#[derive(Clone)]
pub struct KernelRegistry {
    entries: HashMap<String, Entry>,
    /// Texts that users registered, so that one registered under several names compiles once.
    texts: HashMap<Arc<str>, Arc<Source>>,
}

#[derive(Clone)]
struct Entry {
    source: Arc<Source>,
    built_in: bool,
    /// The pipelines made so far; mostly one.
    pipelines: Vec<Made>,
}

/// A pipeline, and what it was made for.
#[derive(Clone)]
struct Made {
    device: u64,
    constants: FunctionConstants,
    pipeline: Pipeline,
}

/// Values for `[[function_constant(index)]]`: by index, the bytes that a buffer of the type would
/// hold.
pub type FunctionConstants = BTreeMap<u32, Vec<u8>>;

/// A text, and what it compiles to once somebody wants a kernel of it.
struct Source {
    text: Arc<str>,
    compiled: OnceLock<Result<Arc<Compilation>, String>>,
}

impl Source {
    fn new(text: Arc<str>) -> Arc<Self> {
        Arc::new(Self {
            text,
            compiled: OnceLock::new(),
        })
    }

    /// The source of a built-in text, one for the whole process.
    fn built_in(text: &'static str) -> Arc<Self> {
        static KNOWN: Mutex<Vec<(&'static str, Arc<Source>)>> = Mutex::new(Vec::new());
        let mut known = lock(&KNOWN);
        // The texts are constants of this crate, so the address tells them apart without reading.
        match known.iter().find(|(t, _)| std::ptr::eq(*t, text)) {
            Some((_, source)) => Arc::clone(source),
            None => {
                let source = Self::new(text.into());
                known.push((text, Arc::clone(&source)));
                source
            }
        }
    }

    /// `name` is what messages call the text; the first name asked for stays.
    fn compiled(&self, name: &str) -> Result<&Arc<Compilation>> {
        self.compiled
            .get_or_init(|| compile(name, &self.text))
            .as_ref()
            .map_err(|diagnostics| MlxError::Compile {
                name: name.into(),
                diagnostics: diagnostics.clone(),
            })
    }
}

fn compile(name: &str, text: &str) -> Result<Arc<Compilation>, String> {
    let compiled = msl::compile(name, text, &msl::syntax::Options::default());
    compiled.map(Arc::new).map_err(|d| d.to_string())
}

impl KernelRegistry {
    /// A registry that knows every built-in kernel.
    ///
    /// ```
    /// let device = mlx_native::MlxDevice::new()?;
    /// let mut registry = mlx_native::KernelRegistry::new();
    /// let exp = registry.get_pipeline("exp_f32", device.metal_device())?;
    /// assert_eq!(exp.name(), "exp_f32");
    /// # Ok::<(), mlx_native::MlxError>(())
    /// ```
    pub fn new() -> Self {
        let mut registry = Self {
            entries: HashMap::new(),
            texts: HashMap::new(),
        };
        ops::register_all(&mut registry);
        registry
    }

    /// Registers a text under a name, in place of what had it before. The name stands for the kernel
    /// of that name in the text or, if the text has just one kernel, for that one. The text is
    /// compiled when [`get_pipeline`](Self::get_pipeline) first asks for it.
    pub fn register_source(&mut self, name: impl Into<String>, msl_source: impl Into<String>) {
        let text: Arc<str> = Arc::from(msl_source.into());
        let source = self
            .texts
            .entry(Arc::clone(&text))
            .or_insert_with(|| Source::new(text));
        let source = Arc::clone(source);
        self.register(name.into(), source);
    }

    /// Registers a text that is compiled already, with whatever it includes; otherwise as
    /// [`register_source`](Self::register_source). Messages of its kernels name its own files.
    ///
    /// ```
    /// use mlx_native::{KernelRegistry, MlxDevice};
    /// let text = "kernel void nothing(uint i [[thread_position_in_grid]]) {}";
    /// let compilation = msl::compile("nothing.metal", text, &Default::default()).unwrap();
    /// let mut registry = KernelRegistry::new();
    /// registry.register_compilation("nothing", compilation);
    /// registry.get_pipeline("nothing", MlxDevice::new()?.metal_device())?;
    /// # Ok::<(), mlx_native::MlxError>(())
    /// ```
    pub fn register_compilation(&mut self, name: impl Into<String>, compilation: Compilation) {
        let source = Source {
            text: Arc::from(""),
            compiled: OnceLock::from(Ok(Arc::new(compilation))),
        };
        self.register(name.into(), Arc::new(source));
    }

    fn register(&mut self, name: String, source: Arc<Source>) {
        let entry = Entry {
            source,
            built_in: false,
            pipelines: Vec::new(),
        };
        if self.entries.insert(name, entry).is_some() {
            // Texts that no name stands for any more.
            self.texts.retain(|_, source| Arc::strong_count(source) > 1);
        }
    }

    /// Registers this library's own kernels of one text.
    pub(crate) fn register_built_in(&mut self, names: &[&str], text: &'static str) {
        let source = Source::built_in(text);
        for &name in names {
            let entry = Entry {
                source: Arc::clone(&source),
                built_in: true,
                pipelines: Vec::new(),
            };
            self.entries.insert(name.into(), entry);
        }
    }

    /// The names that are registered, in alphabetical order.
    pub fn names(&self) -> Vec<&str> {
        let mut names: Vec<_> = self.entries.keys().map(String::as_str).collect();
        names.sort_unstable();
        names
    }

    /// The pipeline of a registered name, compiled for `device` on first use and kept.
    ///
    /// # Errors
    ///
    /// [`MlxError::KernelNotFound`] with similar names; [`MlxError::AmbiguousKernel`] if the text
    /// has no kernel of the name but several others; [`MlxError::Compile`] with the compiler's
    /// messages; [`MlxError::UnsupportedKernel`] if the device cannot run it.
    pub fn get_pipeline(&mut self, name: &str, device: &DeviceRef) -> Result<&Pipeline> {
        self.get_pipeline_with_constants(name, device, &FunctionConstants::new())
    }

    /// The pipeline of a registered name with these values of its function constants; otherwise as
    /// [`get_pipeline`](Self::get_pipeline).
    ///
    /// # Errors
    ///
    /// As [`get_pipeline`](Self::get_pipeline), and [`MlxError::InvalidConstant`] if a value is for
    /// no constant of the text or has not as many bytes as its type.
    pub fn get_pipeline_with_constants(
        &mut self,
        name: &str,
        device: &DeviceRef,
        constants: &FunctionConstants,
    ) -> Result<&Pipeline> {
        let near = if self.entries.contains_key(name) {
            Vec::new()
        } else {
            near(name, self.entries.keys())
        };
        let Some(entry) = self.entries.get_mut(name) else {
            return Err(MlxError::KernelNotFound {
                name: name.into(),
                near,
            });
        };
        let wanted = device.shared.id;
        let is_it = |made: &Made| made.device == wanted && made.constants == *constants;
        let place = match entry.pipelines.iter().position(is_it) {
            Some(place) => place,
            None => {
                let pipeline = entry.make(name, device, constants)?;
                entry.pipelines.push(Made {
                    device: wanted,
                    constants: constants.clone(),
                    pipeline,
                });
                entry.pipelines.len() - 1
            }
        };
        Ok(&entry.pipelines[place].pipeline)
    }
}

impl Entry {
    fn make(
        &self,
        name: &str,
        device: &DeviceRef,
        constants: &FunctionConstants,
    ) -> Result<Pipeline> {
        let compilation = self.source.compiled(name)?;
        let kernels = &compilation.module.kernels;
        let kernel = match kernels.iter().find(|k| &*k.name == name) {
            Some(kernel) => kernel,
            None => match kernels.as_slice() {
                [only] => only,
                _ => {
                    return Err(MlxError::AmbiguousKernel {
                        name: name.into(),
                        kernels: kernels.iter().map(|k| k.name.to_string()).collect(),
                    });
                }
            },
        };
        check_constants(&kernel.name, &compilation.module, constants)?;
        let text = KernelText {
            compilation,
            name: &kernel.name,
            constants,
            built_in: self.built_in,
        };
        Pipeline::new(device, &text, kernel)
    }
}

/// Every value is for a constant of the text, and as long as its type.
fn check_constants(kernel: &str, module: &Module, constants: &FunctionConstants) -> Result<()> {
    for (&index, bytes) in constants {
        let known = module.function_constants.iter();
        let found = known.map(|(_, c)| c).find(|c| c.index == index);
        let message = match found {
            None => format!("a value is given, but the source has no function constant {index}"),
            Some(constant) => {
                let expected = module.types.layout(constant.ty).0 as usize;
                if expected == bytes.len() {
                    continue;
                }
                format!(
                    "`{} {}` has {expected} bytes, but {} are given",
                    module.types.name(constant.ty),
                    constant.name,
                    bytes.len()
                )
            }
        };
        return Err(MlxError::InvalidConstant {
            kernel: kernel.into(),
            index,
            message,
        });
    }
    Ok(())
}

impl Default for KernelRegistry {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for KernelRegistry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KernelRegistry")
            .field("names", &self.names())
            .finish_non_exhaustive()
    }
}

/// Up to three known names that look like `name`, the nearest first.
fn near<'a>(name: &str, known: impl Iterator<Item = &'a String>) -> Vec<String> {
    let mut near: Vec<_> = known
        .map(|k| (distance(name, k), k))
        .filter(|(d, k)| *d <= 2.max(name.len() / 3) || (name.len() > 2 && k.contains(name)))
        .collect();
    near.sort();
    near.into_iter().take(3).map(|(_, k)| k.clone()).collect()
}

/// The least number of letters to insert, delete or change between two names.
fn distance(a: &str, b: &str) -> usize {
    let mut row: Vec<usize> = (0..=b.chars().count()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.chars().enumerate() {
            let change = diagonal + usize::from(x != y);
            diagonal = row[j + 1];
            row[j + 1] = change.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row.last().copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances() {
        assert_eq!(distance("exp_f32", "exp_f32"), 0);
        assert_eq!(distance("exp_f16", "exp_f32"), 2);
        assert_eq!(distance("", "abc"), 3);
        assert_eq!(distance("kitten", "sitting"), 3);
    }

    #[test]
    fn similar_names_are_offered() {
        let known = ["exp_f32", "exp_backward_f32", "matmul"].map(String::from);
        assert_eq!(near("exp_f23", known.iter())[0], "exp_f32");
        assert_eq!(near("backward", known.iter()), ["exp_backward_f32"]);
        assert!(near("softmax", known.iter()).is_empty());
    }
}
