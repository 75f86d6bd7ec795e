(* Real inner-product spaces: Cauchy and Schwarz, the triangle inequality, convexity; and R^d as one of them. *)

From mathcomp Require Import all_ssreflect ssralg ssrnum zmodp matrix.
From mathcomp.classical Require Import boolp classical_sets.
From mathcomp.analysis Require Import reals.
From Equipoise Require Import Arithmetic.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Structure inner_product (R : realType) (V : lmodType R) := InnerProduct {
  dot :> V -> V -> R;
  dotC : forall x y, dot x y = dot y x;
  dotDl : forall x y z, dot (x + y) z = dot x z + dot y z;
  dotZl : forall a x y, dot (a *: x) y = a * dot x y;
  dot_gt0 : forall x, x != 0 -> 0 < dot x x }.

Section inner_product_space.
Variables (R : realType) (V : lmodType R) (ip : inner_product V).
Implicit Types (x y z u v w : V) (a t : R).
Add Field reals : (real_field R).

Local Notation "<< x , y >>" := (dot ip x y) (at level 0, x at level 99, y at level 99).

Definition norm x : R := Num.sqrt << x, x >>.

Lemma dotDr x y z : << x, y + z >> = << x, y >> + << x, z >>.
Proof. by rewrite !(dotC ip x) dotDl. Qed.

Lemma dotZr a x y : << x, a *: y >> = a * << x, y >>.
Proof. by rewrite !(dotC ip x) dotZl. Qed.

Lemma dotNl x y : << - x, y >> = - << x, y >>.
Proof. by rewrite -scaleN1r dotZl mulN1r. Qed.

Lemma dotNr x y : << x, - y >> = - << x, y >>.
Proof. by rewrite !(dotC ip x) dotNl. Qed.

Lemma dotBl x y z : << x - y, z >> = << x, z >> - << y, z >>.
Proof. by rewrite dotDl dotNl. Qed.

Lemma dotBr x y z : << x, y - z >> = << x, y >> - << x, z >>.
Proof. by rewrite dotDr dotNr. Qed.

Lemma dot0l x : << 0, x >> = 0.
Proof. by rewrite -(scale0r x) dotZl mul0r. Qed.

Lemma dot0r x : << x, 0 >> = 0.
Proof. by rewrite dotC dot0l. Qed.

Lemma dot_suml I (r : seq I) (P : pred I) (f : I -> V) x :
  << \sum_(i <- r | P i) f i, x >> = \sum_(i <- r | P i) << f i, x >>.
Proof. by elim/big_rec2: _ => [|i a v _ <-]; rewrite ?dot0l ?dotDl. Qed.

Lemma dot_ge0 x : 0 <= << x, x >>.
Proof. by have [->|/(dot_gt0 ip)/ltW //] := eqVneq x 0; rewrite dot0l. Qed.

Lemma norm_ge0 x : 0 <= norm x. Proof. exact: sqrtr_ge0. Qed.

Lemma sqr_norm x : norm x ^+ 2 = << x, x >>. Proof. by rewrite sqr_sqrtr ?dot_ge0. Qed.

Lemma norm0 : norm 0 = 0. Proof. by rewrite /norm dot0l sqrtr0. Qed.

Lemma normN x : norm (- x) = norm x. Proof. by rewrite /norm dotNl dotNr opprK. Qed.

Lemma norm_subC x y : norm (x - y) = norm (y - x). Proof. by rewrite -normN opprB. Qed.

Lemma normZ a x : norm (a *: x) = `|a| * norm x.
Proof. by rewrite /norm dotZl dotZr mulrA -expr2 sqrtrM ?sqr_ge0 // sqrtr_sqr. Qed.

Lemma dot_norm x y : << x, y >> <= norm x * norm y.
Proof.
have [->|/(dot_gt0 ip) y0] := eqVneq y 0; first by rewrite dot0r norm0 mulr0.
have [xy|/ltW xy] := lerP << x, y >> 0.
  by rewrite (le_trans xy) // mulr_ge0 ?norm_ge0.
rewrite -(@ler_pexpn2r _ 2) ?nnegrE ?mulr_ge0 ?norm_ge0 //.
rewrite exprMn !sqr_norm.
have := dot_ge0 (<< y, y >> *: x - << x, y >> *: y).
rewrite !(dotBl, dotBr, dotZl, dotZr) (dotC ip y x) => h.
suff : 0 <= << y, y >> * (<< x, x >> * << y, y >> - << x, y >> ^+ 2).
  by rewrite pmulr_rge0 // subr_ge0.
apply: (le_trans h); rewrite le_eqVlt; apply/orP; left; apply/eqP; real_ring R.
Qed.

Lemma norm_triangle x y : norm (x + y) <= norm x + norm y.
Proof.
rewrite -(@ler_pexpn2r _ 2) ?nnegrE ?addr_ge0 ?norm_ge0 //.
rewrite sqr_norm sqrrD !sqr_norm !(dotDl, dotDr) (dotC ip y x).
have h := dot_norm x y.
apply: (@le_by2 _ _ _ _ _ _ _ h h); real_ring R.
Qed.

Lemma norm_triangle3 x y z : norm (x - z) <= norm (x - y) + norm (y - z).
Proof. by apply: le_trans (norm_triangle _ _); rewrite addrA subrK. Qed.

(* The point of the segment from x to y at the share t. *)
Definition between x y t := x + t *: (y - x).

Definition convex_set (C : V -> Prop) :=
  forall x y t, C x -> C y -> 0 <= t <= 1 -> C (between x y t).

Definition strongly_convex (mu : R) (C : V -> Prop) (f : V -> R) :=
  forall x y t, C x -> C y -> 0 <= t <= 1 ->
    f (between x y t) <= (1 - t) * f x + t * f y - mu / 2 * (t * (1 - t)) * norm (y - x) ^+ 2.

Definition convex := strongly_convex 0.

Definition minimiser (C : V -> Prop) (f : V -> R) w := C w /\ forall v, C v -> f w <= f v.

(* p is a subgradient at w of the function that is f on C and infinite elsewhere. *)
Definition subgradient (C : V -> Prop) (f : V -> R) w p :=
  C w /\ forall v, C v -> f w + << p, v - w >> <= f v.

Lemma minimiser_subgradient C f w : minimiser C f w <-> subgradient C f w 0.
Proof. by split=> -[Cw h]; split=> // v /h; rewrite dot0l addr0. Qed.

(* A1, fact (a), and what a subgradient adds to it. *)
Lemma strong_growth mu C f w p v : convex_set C -> strongly_convex mu C f ->
  subgradient C f w p -> C v -> f w + << p, v - w >> + mu / 2 * norm (v - w) ^+ 2 <= f v.
Proof.
move=> convexC convexf [Cw sub] Cv.
apply: (@le_limit _ 1 _ _ (mu / 2 * norm (v - w) ^+ 2) ltr01) => t /andP[t0 t1].
have t01 : 0 <= t <= 1 by rewrite ltW.
have h1 := sub _ (convexC _ _ _ Cw Cv t01).
have h2 := convexf _ _ _ Cw Cv t01.
have h := le_trans h1 h2; rewrite /between addrAC subrr add0r dotZr in h.
rewrite -(ler_pmul2l t0); apply: (@le_by1 _ _ _ _ _ h).
real_fields R.
Qed.

(* A1, fact (b). *)
Lemma strong_monotonicity mu C f u v p q : convex_set C -> strongly_convex mu C f ->
  subgradient C f u p -> subgradient C f v q -> mu * norm (u - v) ^+ 2 <= << p - q, u - v >>.
Proof.
move=> convexC convexf fu fv.
have h := strong_growth convexC convexf fu fv.1.
have h' := strong_growth convexC convexf fv fu.1.
rewrite norm_subC !dotBr in h; rewrite !dotBr in h'; rewrite dotBl !dotBr.
apply: (@le_by2 _ _ _ _ _ _ _ h h').
real_fields R.
Qed.

End inner_product_space.

Arguments convex_set {R V} C.
Arguments between {R V} x y t.

(* Weights as rows of d numbers. *)
Section coordinates.
Variables (R : realType) (d : nat).
Implicit Types x y : 'rV[R]_d.

Definition coordinate_dot x y := \sum_i x 0 i * y 0 i.

Lemma coordinate_dotC x y : coordinate_dot x y = coordinate_dot y x.
Proof. by apply: eq_bigr => i _; rewrite mulrC. Qed.

Lemma coordinate_dotDl x y z : coordinate_dot (x + y) z = coordinate_dot x z + coordinate_dot y z.
Proof. by rewrite -big_split; apply: eq_bigr => i _; rewrite mxE mulrDl. Qed.

Lemma coordinate_dotZl a x y : coordinate_dot (a *: x) y = a * coordinate_dot x y.
Proof. by rewrite mulr_sumr; apply: eq_bigr => i _; rewrite mxE mulrA. Qed.

Lemma coordinate_dot_gt0 x : x != 0 -> 0 < coordinate_dot x x.
Proof.
move=> x0; rewrite lt_def sumr_ge0 ?andbT; last by move=> i _; rewrite -expr2 sqr_ge0.
apply: contraNneq x0 => /eqP; rewrite psumr_eq0; last by move=> i _; rewrite -expr2 sqr_ge0.
move=> /allP h; apply/eqP/rowP => i; rewrite mxE; apply/eqP.
by have := h i (mem_index_enum i); rewrite mulf_eq0 orbb.
Qed.

Definition coordinates : inner_product [lmodType R of 'rV[R]_d] :=
  InnerProduct coordinate_dotC coordinate_dotDl coordinate_dotZl coordinate_dot_gt0.

End coordinates.
