//! Heat of one drive: two masses in a row, cooled by the air of the chassis.
//!
//! ```text
//! own watts ──▶ composite ──[r_inner]──▶ case ──[r_outer]──▶ air
//!                 c_inner                 c_outer
//! ```
//!
//! The composite node stands for what the SMART log reports, the case for what a finger touches. Explicit Euler
//! in steps of at most a second, which is far below the smallest time constant (c_inner × r_inner).

/// Thermal constants of a drive in its bay.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ThermalModel {
    /// Heat capacity of controller and flash, in J/K.
    pub inner_j_per_k: f64,
    /// Heat capacity of the case, in J/K.
    pub outer_j_per_k: f64,
    /// Resistance from the inside to the case, in K/W.
    pub inner_k_per_w: f64,
    /// Resistance from the case to the air, in K/W.
    pub outer_k_per_w: f64,
}

impl ThermalModel {
    /// Guess: a 2.5-inch aluminium case of about 150 g; not from any data sheet.
    pub const GUESS: Self = Self { inner_j_per_k: 40.0, outer_j_per_k: 135.0, inner_k_per_w: 0.5, outer_k_per_w: 1.1 };
}

/// Temperatures of a drive, in °C.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Heat {
    /// Inside: the composite temperature.
    pub composite_c: f64,
    /// Outside: the touch temperature.
    pub case_c: f64,
}

impl Heat {
    /// Where a drive that has long taken `watts` in air of `air_c` stands.
    #[must_use]
    pub fn settled(model: &ThermalModel, watts: f64, air_c: f64) -> Self {
        let case_c = air_c + watts * model.outer_k_per_w;
        Self { composite_c: case_c + watts * model.inner_k_per_w, case_c }
    }

    /// `seconds` later, having taken `watts` on average; sub-steps of at most a second. The air's part of the
    /// resistance is the model's.
    pub fn step(&mut self, model: &ThermalModel, watts: f64, air_c: f64, seconds: f64) {
        let mut left = seconds;
        while left > 0.0 {
            let step = left.min(1.0);
            let out_of_inside = (self.composite_c - self.case_c) / model.inner_k_per_w;
            let into_air = (self.case_c - air_c) / model.outer_k_per_w;
            self.composite_c += step * (watts - out_of_inside) / model.inner_j_per_k;
            self.case_c += step * (out_of_inside - into_air) / model.outer_j_per_k;
            left -= step;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heating_follows_the_exponential_of_one_mass() {
        // The case is so large that it stays at the air's temperature: one RC remains.
        let model = ThermalModel { outer_j_per_k: 1e12, ..ThermalModel::GUESS };
        let mut heat = Heat { composite_c: 25.0, case_c: 25.0 };
        let tau = model.inner_j_per_k * model.inner_k_per_w;
        for second in 1..=100 {
            heat.step(&model, 20.0, 25.0, 1.0);
            let exact = 25.0 + 20.0 * model.inner_k_per_w * (1.0 - libm::exp(-f64::from(second) / tau));
            assert!((heat.composite_c - exact).abs() < 0.15, "{second} s: {} {exact}", heat.composite_c);
        }
    }

    #[test]
    fn it_settles_where_the_resistances_say() {
        let model = ThermalModel::GUESS;
        let mut heat = Heat { composite_c: 25.0, case_c: 25.0 };
        heat.step(&model, 20.0, 30.0, 10_000.0);
        let settled = Heat::settled(&model, 20.0, 30.0);
        assert!((heat.composite_c - settled.composite_c).abs() < 1e-6);
        assert!((heat.case_c - settled.case_c).abs() < 1e-6);
    }

    #[test]
    fn heat_is_conserved() {
        let model = ThermalModel { outer_k_per_w: 1e12, ..ThermalModel::GUESS };
        let mut heat = Heat { composite_c: 25.0, case_c: 25.0 };
        heat.step(&model, 20.0, 25.0, 60.0);
        let stored = (heat.composite_c - 25.0) * model.inner_j_per_k + (heat.case_c - 25.0) * model.outer_j_per_k;
        assert!((stored - 20.0 * 60.0).abs() < 1e-6, "{stored}");
    }
}
