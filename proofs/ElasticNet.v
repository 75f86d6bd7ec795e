(* Page F1: the elastic net, as strongly convex as its ridge and smallest at 0. *)

From mathcomp Require Import all_ssreflect ssralg ssrnum zmodp matrix.
From mathcomp.classical Require Import boolp classical_sets.
From mathcomp.analysis Require Import reals.
From Equipoise Require Import Arithmetic InnerProduct Minimisers Radius Approximate.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section elastic_net.
Variables (R : realType) (d : nat).
Local Notation weights := 'rV[R]_d.
Local Notation ip := (coordinates R d).
Local Notation norm := (norm ip).
Implicit Types (x y w : weights) (C D : weights -> Prop).
Add Field reals : (real_field R).

(* scikit-learn's penalty of strength alpha; c is its l1_ratio. *)
Variables (alpha c : R).
Hypotheses (alpha0 : 0 < alpha) (c0 : 0 <= c) (c1 : c < 1).

Definition sizes w : R := \sum_i `|w 0 i|.
Definition elastic_net w : R := alpha * (c * sizes w + (1 - c) / 2 * norm w ^+ 2).
Let mu := alpha * (1 - c).

Let mu0 : 0 < mu. Proof. by rewrite mulr_gt0 // subr_gt0. Qed.

Lemma sizes_ge0 w : 0 <= sizes w. Proof. by apply: sumr_ge0 => i _; exact: normr_ge0. Qed.

Lemma sizes_convex C : convex ip C sizes.
Proof.
move=> x y t _ _ /andP[t0 t1]; rewrite !mul0r subr0 /sizes !mulr_sumr -big_split /=.
apply: ler_sum => i _; rewrite !mxE.
have -> : x 0 i + t * (y 0 i - x 0 i) = (1 - t) * x 0 i + t * y 0 i by real_ring R.
apply: (le_trans (ler_norm_add _ _)); rewrite !normrM (ger0_norm t0).
by rewrite ger0_norm ?subr_ge0.
Qed.

Lemma elastic_net_strongly_convex C : strongly_convex ip mu C elastic_net.
Proof.
move=> x y t Cx Cy t01; have ac0 : 0 <= alpha * c by rewrite mulr_ge0 // ltW.
have ridge := @ridge_strongly_convex _ _ ip mu C x y t Cx Cy t01.
have := ler_wpmul2l ac0 (sizes_convex Cx Cy t01); rewrite !mul0r subr0 => corner.
by apply: (@le_by2 _ _ _ _ _ _ _ ridge corner); rewrite /elastic_net /mu; real_fields R.
Qed.

Lemma elastic_net_smallest C : C 0 -> minimiser C elastic_net 0.
Proof.
move=> C00; split=> // v _; rewrite /elastic_net norm0 {1}/sizes big1 => [|i _]; last by rewrite mxE normr0.
rewrite expr0n /= !mulr0 addr0 mulr0 mulr_ge0 ?(ltW alpha0) // addr_ge0 // mulr_ge0 ?sizes_ge0 ?sqr_ge0 //.
by rewrite mulr_ge0 ?invr_ge0 ?ler0n // subr_ge0 ltW.
Qed.

(* The page: A1, A2 and lemma R with this penalty. *)
Variables (Z : Type) (loss : Z -> weights -> R) (G : Z -> weights -> weights -> Prop) (C : weights -> Prop) (n : nat).
Implicit Types (S : 'I_n -> Z).

Theorem F1 (D : weights -> Prop) : convex_set C -> (forall z, convex ip C (loss z)) -> (forall z, slopes ip (G z) (loss z)) ->
  [/\ forall S S' rho w w', neighbours S S' -> (forall x z s, D x -> G z x s -> norm s <= rho) -> D w -> D w' ->
        minimiser C (objective loss elastic_net S) w -> minimiser C (objective loss elastic_net S') w' ->
        norm (w - w') <= 2 * rho / (n%:R * mu),
      forall S S' Gam w w', neighbours S S' ->
        (forall x z z' s s', D x -> G z x s -> G z' x s' -> norm (s - s') <= Gam) ->
        (forall S x, minimiser C (objective loss elastic_net S) x -> D x) ->
        minimiser C (objective loss elastic_net S) w -> minimiser C (objective loss elastic_net S') w' ->
        norm (w - w') <= Gam / (n%:R * mu) &
      forall S pull w, (0 < n)%N -> C 0 -> (forall z s, G z w s -> - dot ip s w <= pull) ->
        minimiser C (objective loss elastic_net S) w -> mu * norm w ^+ 2 <= pull].
Proof.
move=> convexC convexl slopesl; have penalty := @elastic_net_strongly_convex C.
split.
- by move=> S S' rho w w' adj; exact: (A1_gradients adj mu0 convexC penalty convexl slopesl).
- move=> S S' Gam w w' adj diameter inD; apply: (A2 adj mu0 convexC _ slopesl diameter inD).
  exact: objective_convex.
- by move=> S pull w n0 C00; exact: (lemma_R n0 convexC penalty (elastic_net_smallest C00) slopesl).
Qed.

End elastic_net.
