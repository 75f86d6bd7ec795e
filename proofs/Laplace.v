(* Pages D1 and D2, "the ideal mechanism": spherical and product Laplace noise on R^d, as densities with respect to a
   measure that translations keep. *)

From HB Require Import structures.
From mathcomp Require Import all_ssreflect ssralg ssrnum zmodp matrix interval.
From mathcomp.classical Require Import boolp classical_sets functions cardinality mathcomp_extra.
From mathcomp.analysis Require Import reals ereal topology normedtype realfun sequences signed esum.
From mathcomp.analysis Require Import measure lebesgue_measure numfun lebesgue_integral exp.
From Equipoise Require Import Arithmetic InnerProduct Minimisers Privacy Vectors.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Import numFieldTopology.Exports.
Local Open Scope classical_set_scope.
Local Open Scope ring_scope.

Section laplace.
Variables (R : realType) (d : nat).
Add Field reals : (real_field R).
Local Notation vectors := (vectors R d).
Local Notation norm := (norm (coordinates R d)).
Implicit Types (w k : 'rV[R]_d) (lambda noise : {measure set vectors -> \bar R}) (b c Delta epsilon : R).

Definition translation_invariant lambda :=
  forall w E, measurable E -> lambda ((fun x : vectors => (x + w : vectors)) @^-1` E) = lambda E.

(* The law of w plus noise. *)
Definition shifted noise w : {measure set vectors -> \bar R} :=
  [the measure _ _ of pushforward noise (measurable_translation w)].

Lemma shifted_density lambda noise p w : translation_invariant lambda ->
  has_density lambda noise p -> has_density lambda (shifted noise w) (fun x => p (x - w)).
Proof.
move=> invariant [mp p0 pE].
have mq : measurable_fun setT (fun x : vectors => p (x - w)).
  rewrite (_ : (fun x => _) = p \o (fun x : vectors => (x + (- w) : vectors))) //.
  by apply: measurable_fun_comp => //; exact: measurable_translation.
split=> // E mE; pose f := fun x : vectors => (x + w : vectors).
have mf : measurable_fun setT f by exact: measurable_translation.
have mfE : measurable (f @^-1` E) by rewrite -[_ @^-1` _]setTI; exact: mf.
rewrite [LHS]/= [LHS]/pushforward pE // integral_mkcond [RHS]integral_mkcond.
pose g := (fun x : vectors => (p (x - w))%:E) \_ E.
have mg : measurable_fun setT g.
  apply/(measurable_restrict _ mE measurableT (@subsetT _ E)).
  by apply: measurable_funTS; exact/EFin_measurable_fun.
have g0 x : (0 <= g x)%E by rewrite /g /patch; case: ifP; rewrite ?lee_fin.
have -> : (\int[lambda]_x g x = \int[lambda]_x (g \o f) x)%E.
  rewrite -(integral_pushforward mf) //; apply: eq_measure_integral => A mA _.
  by rewrite /= /pushforward invariant.
apply: eq_integral => x _; rewrite /= /g /patch.
have -> : (f x \in E) = (x \in f @^-1` E) by apply/idP/idP; rewrite !inE.
by rewrite /f addrK.
Qed.

(* A density that grows by at most a factor e^(t/b) over a distance t hides a shift. *)
Lemma close_shifted lambda noise (length : 'rV[R]_d -> R) b c epsilon w w' :
  translation_invariant lambda -> has_density lambda noise (fun k => c * expR (- (length k / b))) ->
  0 < b -> 0 <= c -> (forall x y, length (x + y) <= length x + length y) ->
  length (w - w') <= epsilon * b -> close epsilon 0 (shifted noise w) (shifted noise w').
Proof.
move=> invariant density b0 c0 triangle small.
apply: density_ratio (shifted_density w invariant density) (shifted_density w' invariant density) _ => x.
rewrite mulrCA ler_wpmul2l // -expRD ler_expR -(ler_pmul2r b0) mulrDl !mulNr !divfK ?gt_eqF //.
have := triangle (w - w') (x - w); rewrite (_ : w - w' + (x - w) = x - w'); last first.
  by rewrite addrC addrA subrK.
by move=> h; apply: (@le_by2 _ _ _ _ _ _ _ h small); real_ring R.
Qed.

(* Page D1. *)
Theorem D1 lambda noise b c Delta w w' : translation_invariant lambda ->
  has_density lambda noise (fun k => c * expR (- (norm k / b))) -> 0 < b -> 0 <= c ->
  norm (w - w') <= Delta -> close (Delta / b) 0 (shifted noise w) (shifted noise w').
Proof.
move=> invariant density b0 c0 near; apply: (close_shifted invariant density) => //.
  exact: norm_triangle.
by rewrite divfK ?gt_eqF.
Qed.

Definition length1 k : R := \sum_i `|k 0 i|.

Lemma length1_triangle x y : length1 (x + y) <= length1 x + length1 y.
Proof. by rewrite -big_split; apply: ler_sum => i _; rewrite mxE ler_norm_add. Qed.

Lemma length1_norm k : length1 k <= Num.sqrt d%:R * norm k.
Proof.
pose sizes : 'rV[R]_d := \row_i `|k 0 i|; pose ones : 'rV[R]_d := const_mx 1.
have <- : coordinate_dot ones sizes = length1 k by apply: eq_bigr => i _; rewrite !mxE mul1r.
have <- : coordinate_dot ones ones = d%:R.
  by rewrite /coordinate_dot (eq_bigr (fun=> 1)) ?sumr_const ?card_ord // => i _; rewrite !mxE mul1r.
have -> : norm k = norm sizes; last exact: (dot_norm (coordinates R d)).
congr Num.sqrt; apply: eq_bigr => i _.
by rewrite !mxE -normrM ger0_norm // -expr2 sqr_ge0.
Qed.

Lemma product_exponential k b : \prod_i expR (- (`|k 0 i| / b)) = expR (- (length1 k / b)).
Proof. by rewrite /length1 mulr_suml -sumrN (big_morph _ (@expRD R) (expR0 R)). Qed.

(* Page D2 for the density that is the product of the coordinates'; Independent.v says that it is their law. First for a
   shift whose coordinates' sizes sum to s at most. *)
Theorem product_laplace_sum lambda noise b c s w w' : translation_invariant lambda ->
  has_density lambda noise (fun k => c * \prod_i expR (- (`|k 0 i| / b))) -> 0 < b -> 0 <= c ->
  length1 (w - w') <= s -> close (s / b) 0 (shifted noise w) (shifted noise w').
Proof.
move=> invariant density b0 c0 near.
have {}density : has_density lambda noise (fun k => c * expR (- (length1 k / b))).
  suff <- : (fun k => c * \prod_i expR (- (`|k 0 i| / b))) = fun k => c * expR (- (length1 k / b)) by [].
  by apply/funext => k; rewrite product_exponential.
apply: (close_shifted invariant density) => //; first exact: length1_triangle.
by rewrite divfK ?gt_eqF.
Qed.

(* By Cauchy and Schwarz, for a shift of Euclidean length Delta at most. *)
Theorem product_laplace lambda noise b c Delta w w' : translation_invariant lambda ->
  has_density lambda noise (fun k => c * \prod_i expR (- (`|k 0 i| / b))) -> 0 < b -> 0 <= c ->
  norm (w - w') <= Delta -> close (Num.sqrt d%:R * Delta / b) 0 (shifted noise w) (shifted noise w').
Proof.
move=> invariant density b0 c0 near; apply: (product_laplace_sum invariant density) => //.
by apply: (le_trans (length1_norm _)); rewrite ler_wpmul2l // sqrtr_ge0.
Qed.

End laplace.

(* A shift that coins decide: the law of noise around it, as a kernel of the coins. *)
Section coins.
Variables (R : realType) (d : nat) (d0 : measure_display) (coins : measurableType d0).
Variables (noise : {measure set (vectors R d) -> \bar R}) (noise1 : noise setT = 1%E).
Variable shift : coins -> 'rV[R]_d.
Hypothesis measurable_shift : measurable_fun setT (fun x => shift x : vectors R d).

Lemma shifted_measurable E : measurable E -> measurable_fun setT (fun x => shifted noise (shift x) E).
Proof.
move=> mE; pose sum (p : coins * vectors R d) : vectors R d := p.2 + shift p.1.
have [mfst msnd] := (@prod_measurable_funP _ _ _ _ _ _ idfun).1
  (@measurable_fun_id _ [the measurableType _ of (coins * vectors R d)%type] setT).
have msum : measurable_fun setT sum.
  apply: measurable_vector => i; under eq_fun do rewrite mxE.
  apply: measurable_funD; first exact: (measurable_fun_comp (@measurable_coordinate R d i) msnd).
  exact: (measurable_fun_comp (measurable_fun_comp (@measurable_coordinate R d i) measurable_shift) mfst).
have finite : sigma_finite setT noise.
  by exists (fun=> setT) => [|k]; [rewrite bigcup_const //; exists 0%N|split=> //; rewrite noise1 ltry].
have : measurable_fun setT (noise \o xsection (sum @^-1` E)).
  by apply: measurable_fun_xsection => //; rewrite inE -[_ @^-1` _]setTI; exact: msum.
congr (measurable_fun _ _); apply/funext => x; rewrite /= /pushforward; congr (noise _).
by apply/seteqP; split=> y; rewrite /xsection /= inE.
Qed.

Definition shifted_kernel : kernel R coins (vectors R d) :=
  Kernel (at_point := fun x => shifted noise (shift x)) (fun=> noise1) shifted_measurable.

End coins.
