(* Page A1: "a strongly convex, lower semicontinuous function that is finite somewhere on a closed set has exactly one
   minimiser", on R^d. A minimising sequence is Cauchy, because midpoints would otherwise be better. *)

From mathcomp Require Import all_ssreflect ssralg ssrnum zmodp matrix.
From mathcomp.classical Require Import boolp classical_sets functions.
From mathcomp.analysis Require Import reals topology normedtype sequences.
From Equipoise Require Import Arithmetic InnerProduct.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Import numFieldTopology.Exports.
Local Open Scope classical_set_scope.
Local Open Scope ring_scope.

Section existence.
Variables (R : realType) (d : nat).
Local Notation weights := 'rV[R]_d.
Local Notation ip := (coordinates R d).
Local Notation norm := (norm ip).
Implicit Types (x y v w : weights) (e r mu : R).
Add Field reals : (real_field R).

(* Points of C near x, as near as one likes, make x a point of C. *)
Definition closed_weights (C : weights -> Prop) :=
  forall x, (forall e, 0 < e -> exists2 y, C y & norm (y - x) <= e) -> C x.

Definition lower_semicontinuous (C : weights -> Prop) (f : weights -> R) :=
  forall x e, C x -> 0 < e -> exists2 r, 0 < r & forall y, C y -> norm (y - x) <= r -> f x <= f y + e.

Variables (C : weights -> Prop) (f : weights -> R) (mu : R).
Hypotheses (mu_gt0 : 0 < mu) (convexC : convex_set C) (convexf : strongly_convex ip mu C f).
Hypotheses (closedC : closed_weights C) (lowerf : lower_semicontinuous C f).

Lemma unique_minimiser v w : minimiser C f v -> minimiser C f w -> v = w.
Proof.
move=> minv minw.
have := strong_monotonicity convexC convexf
  ((minimiser_subgradient ip _ _ _).1 minv) ((minimiser_subgradient ip _ _ _).1 minw).
rewrite subrr dot0l sqr_norm pmulr_rle0 // => le0; apply/eqP; rewrite -subr_eq0.
by apply: contraTT le0 => /(dot_gt0 ip); rewrite -ltNge.
Qed.

(* Bounded below: near a point by semicontinuity, far from it by strong convexity. *)
Lemma bounded_below x0 : C x0 -> exists m, forall y, C y -> m <= f y.
Proof.
move=> C0; have [r r0 near] := lowerf C0 ltr01.
pose u := r^-1 + mu / 2 * r; exists (f x0 - 1 - u ^+ 2 / (2 * mu)) => y Cy.
have u2 : 0 <= u ^+ 2 / (2 * mu) by rewrite divr_ge0 ?sqr_ge0 // mulr_ge0 ?ler0n // ltW.
have [close|far] := lerP (norm (y - x0)) r.
  by have h := near y Cy close; apply: (@le_by2 _ _ _ _ _ _ _ h u2); real_ring R.
set D := norm (y - x0) in far; have D0 : 0 < D := lt_trans r0 far.
pose t := r / D; have t0 : 0 < t by exact: divr_gt0.
have t01 : 0 <= t <= 1 by apply: share => //; exact: ltW.
have distance : norm (between x0 y t - x0) <= r.
  rewrite /between addrAC subrr add0r normZ ger0_norm -/D ?(ltW t0) //.
  by rewrite /t divfK ?gt_eqF.
have h1 := near _ (convexC C0 Cy t01) distance.
have h2 := convexf C0 Cy t01; rewrite -/D in h2.
have h3 := le_trans h1 (ler_add h2 (lexx 1)).
have Dr : t * D = r by rewrite /t divfK ?gt_eqF.
(* divide by t: f y >= f x0 - D/r + (mu/2)(D^2 - r D) *)
have h4 : f x0 - D / r + mu / 2 * (D ^+ 2 - r * D) <= f y.
  rewrite -(ler_pmul2l t0); have -> : D / r = t^-1 by rewrite /t invf_div.
  apply: (@le_by1 _ _ _ _ _ h3); rewrite -Dr; real_fields R.
  by apply/eqP; rewrite gt_eqF.
have square : 0 <= (mu * D - u) ^+ 2 / (2 * mu).
  by rewrite divr_ge0 ?sqr_ge0 // mulr_ge0 ?ler0n // ltW.
apply: (@le_by2 _ _ _ _ _ _ _ (ler_add h4 square) ler01); rewrite /u; real_fields R; apply/eqP; by rewrite gt_eqF.
Qed.

Lemma small_fraction e : 0 < e -> exists k : nat, k.+1%:R^-1 <= e.
Proof.
move=> e0; exists (Num.bound e^-1).
have le : e^-1 <= (Num.bound e^-1).+1%:R.
  by rewrite (le_trans (ltW (archi_boundP _))) ?ler_nat // invr_ge0 ltW.
by rewrite -[X in _ <= X]invrK lef_pinv // posrE ?invr_gt0 // ltr0n.
Qed.

(* A sequence whose later members stay within b k of the k-th has a limit within b k of it. *)
Lemma nested_limit (a b : nat -> R) : (forall k j, (k <= j)%N -> `|a j - a k| <= b k) ->
  exists l, forall k, `|a k - l| <= b k.
Proof.
move=> nested; pose lows := [set a k - b k | k in [set: nat]].
have crossing m k : a m - b m <= a k + b k.
  have := nested m (maxn m k) (leq_maxl m k); rewrite ler_norml => /andP[low _].
  have := nested k (maxn m k) (leq_maxr m k); rewrite ler_norml => /andP[_ high].
  by apply: (@le_by2 _ _ _ _ _ _ _ low high); real_ring R.
have lows0 : lows !=set0 by exists (a 0%N - b 0%N), 0%N.
have has : has_sup lows by split=> //; exists (a 0%N + b 0%N) => _ [m _ <-]; exact: crossing.
exists (sup lows) => k; rewrite ler_norml; apply/andP; split.
  have h : sup lows <= a k + b k by apply: sup_le_ub => // _ [m _ <-]; exact: crossing.
  by apply: (@le_by1 _ _ _ _ _ h); real_ring R.
have h : a k - b k <= sup lows by apply: sup_upper_bound => //; exists k.
by apply: (@le_by1 _ _ _ _ _ h); real_ring R.
Qed.

Lemma coordinate_norm x i : `|x 0 i| <= norm x.
Proof.
rewrite -sqrtr_sqr; apply: ler_wsqrtr; rewrite /= /coordinate_dot (bigD1 i) //= -expr2 ler_addl.
by apply: sumr_ge0 => j _; rewrite -expr2 sqr_ge0.
Qed.

Lemma norm_coordinates x e : 0 <= e -> (forall i, `|x 0 i| <= e) -> norm x <= Num.sqrt (d%:R * e ^+ 2).
Proof.
move=> e0 small; apply: ler_wsqrtr; rewrite /= /coordinate_dot.
apply: (@le_trans _ _ (\sum_(i < d) e ^+ 2)); last by rewrite sumr_const card_ord mulr_natl.
by apply: ler_sum => i _; rewrite -expr2 -real_normK ?num_real // ler_pexpn2r ?nnegrE.
Qed.

Theorem minimiser_exists x0 : C x0 -> exists w, minimiser C f w.
Proof.
move=> C0; have [m below] := bounded_below C0.
pose values := [set f y | y in [set y | C y]].
have infv : has_inf values by split; [exists (f x0), x0|exists m => _ [y Cy <-]; exact: below].
have least y : C y -> inf values <= f y by move=> Cy; apply: inf_lower_bound => //; exists y.
have each (k : nat) : exists x, C x /\ f x <= inf values + k.+1%:R^-1.
  have k0 : 0 < k.+1%:R^-1 :> R by rewrite invr_gt0 ltr0n.
  by have [_ [y /= Cy <-] lt] := inf_adherent k0 infv; exists y; split=> //; exact: ltW.
have [x xP] := choice each.
pose c := 8 / mu; have c0 : 0 < c by rewrite divr_gt0 // ltr0n.
pose b (k : nat) := Num.sqrt (c * k.+1%:R^-1).
have b2 k : b k ^+ 2 = c * k.+1%:R^-1.
  by rewrite sqr_sqrtr // mulr_ge0 ?invr_ge0 ?ler0n // ltW.
have together k j : (k <= j)%N -> norm (x j - x k) <= b k.
  move=> kj; rewrite -[norm _]ger0_norm ?norm_ge0 // -sqrtr_sqr; apply: ler_wsqrtr.
  have half : 0 <= 2^-1 :> R by rewrite invr_ge0 ler0n.
  have half01 : 0 <= (2^-1 : R) <= 1 by rewrite half invf_le1 ?ler1n // ltr0n.
  have h1 := convexf (xP k).1 (xP j).1 half01.
  have h2 := least _ (convexC (xP k).1 (xP j).1 half01).
  have h3 : f (x j) <= inf values + k.+1%:R^-1.
    rewrite (le_trans (xP j).2) // ler_add2l lef_pinv ?posrE ?ltr0n // ler_nat ltnS //.
  have h4 := (xP k).2.
  have h5 := ler_add (ler_add h1 h2) (ler_wpmul2l half (ler_add h3 h4)).
  have c8 : 0 <= c by exact: ltW.
  apply: (@le_by1 _ _ _ _ _ (ler_wpmul2l c8 h5)); rewrite /c.
  set q := k.+1%:R^-1; set distance := norm (x j - x k); set middle := f (between _ _ _).
  by real_fields R; apply/eqP; rewrite gt_eqF.
have limits i : exists l, forall k, `|x k 0 i - l| <= b k.
  apply: nested_limit => k j kj; apply: le_trans (together k j kj).
  by have := coordinate_norm (x j - x k) i; rewrite !mxE.
have [l lP] := choice limits; pose w : weights := \row_i l i.
have near k : norm (x k - w) <= Num.sqrt (d%:R * c * k.+1%:R^-1).
  rewrite -mulrA -b2; apply: norm_coordinates => [|i]; first exact: sqrtr_ge0.
  by rewrite !mxE; exact: lP.
(* as near as one likes, with a value as small as one likes *)
have approach r e : 0 < r -> 0 < e -> exists2 k, norm (x k - w) <= r & f (x k) <= inf values + e.
  move=> r0 e0; have dc0 : 0 < d%:R * c + 1.
    by apply: ltr_spaddr ltr01 _; apply: mulr_ge0; [exact: ler0n|exact: ltW].
  have goal0 : 0 < Num.min e (r ^+ 2 / (d%:R * c + 1)) by rewrite lt_minr e0 divr_gt0 // exprn_gt0.
  have [k] := small_fraction goal0; rewrite le_minr => /andP[ke kr]; exists k.
    apply: (le_trans (near k)); rewrite -[X in _ <= X]ger0_norm ?(ltW r0) // -sqrtr_sqr; apply: ler_wsqrtr.
    rewrite ler_pdivl_mulr // mulrC in kr; apply: le_trans kr.
    by rewrite ler_wpmul2r ?invr_ge0 ?ler0n // ler_addl ler01.
  by rewrite (le_trans (xP k).2) // ler_add2l.
have Cw : C w.
  by apply: closedC => e e0; have [k near_k _] := approach e 1 e0 ltr01; exists (x k) => //; exact: (xP k).1.
exists w; split=> // v Cv; apply: le_trans (least v Cv).
apply: (@le_limit _ 1 _ _ 2 ltr01) => e /andP[e0 _].
have [r r0 low] := lowerf Cw e0; have [k near_k value] := approach r e r0 e0.
have h := low _ (xP k).1 near_k.
by apply: (@le_by2 _ _ _ _ _ _ _ h value); real_ring R.
Qed.

End existence.

(* Sums of a Lipschitz and a lower semicontinuous function, and the ridge, are lower semicontinuous. *)
Section semicontinuity.
Variables (R : realType) (d : nat) (C : 'rV[R]_d -> Prop).
Local Notation norm := (norm (coordinates R d)).
Add Field reals' : (real_field R).

Lemma lower_add (g h : 'rV[R]_d -> R) (K : R) : 0 <= K -> (forall x y, g x <= g y + K * norm (y - x)) ->
  lower_semicontinuous C h -> lower_semicontinuous C (fun w => g w + h w).
Proof.
move=> K0 lipschitz lowerh x e Cx e0; have e20 : 0 < e / 2 by rewrite divr_gt0 // ltr0n.
have K1 : 0 < K + 1 by exact: ltr_spaddr ltr01 K0.
have [r r0 low] := lowerh x _ Cx e20; exists (Num.min r (e / 2 / (K + 1))).
  by rewrite lt_minr r0 divr_gt0.
move=> y Cy; rewrite le_minr => /andP[near_r near_e].
have h1 := lipschitz x y; have h2 := low y Cy near_r.
have h3 : K * norm (y - x) <= e / 2.
  rewrite ler_pdivl_mulr // in near_e; apply: le_trans near_e; rewrite mulrC.
  by rewrite ler_wpmul2l ?(norm_ge0 (coordinates R d)) // ler_addl ler01.
by apply: (@le_by1 _ _ _ _ _ (ler_add (ler_add h1 h2) h3)); real_fields R.
Qed.

Lemma ridge_lower (mu : R) : 0 < mu -> lower_semicontinuous C (fun w => mu / 2 * norm w ^+ 2).
Proof.
move=> mu0 x e Cx e0; have K0 : 0 <= mu * norm x by rewrite mulr_ge0 ?(norm_ge0 (coordinates R d)) // ltW.
have K1 : 0 < mu * norm x + 1 by exact: ltr_spaddr ltr01 K0.
exists (e / (mu * norm x + 1)) => [|y _ near]; first exact: divr_gt0.
have h1 := ler_wpmul2l (ltW mu0) (dot_norm (coordinates R d) x (x - y)).
rewrite (norm_subC _ x) in h1.
have h2 : 0 <= mu / 2 * norm (x - y) ^+ 2.
  by rewrite mulr_ge0 ?sqr_ge0 // divr_ge0 ?ler0n // ltW.
have h3 : mu * norm x * norm (y - x) <= e.
  rewrite ler_pdivl_mulr // in near; apply: le_trans near; rewrite mulrC.
  by rewrite ler_wpmul2l ?(norm_ge0 (coordinates R d)) // ler_addl ler01.
apply: (@le_by1 _ _ _ _ _ (ler_add (ler_add h1 h2) h3)).
rewrite !sqr_norm !(dotBl, dotBr) (dotC _ y x); set a := norm (y - x); set b := norm x.
by set xx := dot _ x x; set xy := dot _ x y; set yy := dot _ y y; real_fields R.
Qed.

End semicontinuity.
