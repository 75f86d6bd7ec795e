(* Pages D2, on a lattice, and N4: Laplace noise as it is drawn, in sums over whole numbers. *)

From HB Require Import structures.
From mathcomp Require Import all_ssreflect ssralg ssrnum ssrint finmap zmodp matrix interval.
From mathcomp.classical Require Import boolp classical_sets functions cardinality fsbigop mathcomp_extra.
From mathcomp.analysis Require Import reals ereal topology normedtype sequences signed esum.
From mathcomp.analysis Require Import measure lebesgue_measure numfun lebesgue_integral exp.
From Equipoise Require Import Arithmetic InnerProduct Minimisers Privacy Vectors Laplace Maximum.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Import numFieldTopology.Exports.
Local Open Scope classical_set_scope.
Local Open Scope ring_scope.

Section sums.
Variables (R : realType) (K : choiceType).

(* From a ratio of probabilities to every event, in sums. *)
Lemma sum_ratio (p p' : K -> R) (c : R) (E : set K) : 0 <= c -> (forall k, 0 <= p' k) ->
  (forall k, p k <= c * p' k) ->
  (\esum_(k in E) (p k)%:E <= c%:E * \esum_(k in E) (p' k)%:E)%E.
Proof.
move=> c0 p0 ratio; apply: ub_ereal_sup => _ [X XE <-].
have [finX sub] := XE; rewrite fsbig_finite //=.
apply: (@le_trans _ _ (c%:E * \sum_(k <- fset_set X) (p' k)%:E)%E).
  rewrite ge0_sume_distrr => [|k _]; last by rewrite lee_fin.
  by apply: lee_sum => k _; rewrite -EFinM lee_fin.
apply: lee_wpmul2l; first by rewrite lee_fin.
by apply: esum_ge; exists X => //; rewrite fsbig_finite.
Qed.

End sums.

(* The space of d whole numbers, every set of which is an event. *)
Definition lattice d := {ffun 'I_d -> int}.

Section lattice_events.
Variable d : nat.

Canonical lattice_eqType := [eqType of lattice d].
Canonical lattice_choiceType := [choiceType of lattice d].
Canonical lattice_pointedType := PointedType (lattice d) [ffun=> 0].

Definition lattice_measurable : set (set (lattice d)) := setT.

Let lattice_measurable0 : lattice_measurable set0. Proof. by []. Qed.
Let lattice_measurableC X : lattice_measurable X -> lattice_measurable (~` X). Proof. by []. Qed.
Let lattice_measurableU (F : (set (lattice d))^nat) : (forall i, lattice_measurable (F i)) ->
  lattice_measurable (\bigcup_i F i).
Proof. by []. Qed.

HB.instance Definition _ := @isMeasurable.Build default_measure_display (lattice d) (Pointed.class _) lattice_measurable
  lattice_measurable0 lattice_measurableC lattice_measurableU.

End lattice_events.

(* d independent numbers: the product of their probabilities. *)
Section product.
Variable R : realType.
Local Open Scope ereal_scope.

Lemma esum_scaled (K : choiceType) (x : R) (f : K -> R) (E : set K) : (0 <= x)%R -> (forall k, 0 <= f k)%R ->
  \esum_(k in E) (x * f k)%:E = x%:E * \esum_(k in E) (f k)%:E.
Proof.
move=> x0 f0; apply/eqP; rewrite eq_le; apply/andP; split; first exact: sum_ratio.
move: x0; rewrite le_eqVlt => /predU1P[<-|x0].
  by rewrite mul0e; apply: esum_ge0 => k _; rewrite lee_fin mul0r.
rewrite -lee_pdivl_mull //; apply: sum_ratio => [|k|k].
- by rewrite invr_ge0 ltW.
- by rewrite mulr_ge0 // ltW.
- by rewrite mulKf // gt_eqF.
Qed.

Definition prepended d (p : int * lattice d) : lattice d.+1 :=
  [ffun i => if unlift ord0 i is Some j then p.2 j else p.1].

Theorem product_is_law d (p : 'I_d -> int -> R) : (forall i j, 0 <= p i j)%R ->
  (forall i, \esum_(j in [set: int]) (p i j)%:E = 1) ->
  \esum_(k in [set: lattice d]) (\prod_i p i (k i))%:E = 1.
Proof.
move=> p0 p1; elim: d p p0 p1 => [|d IH] p p0 p1.
  have -> : [set: lattice 0] = [set [ffun=> 0%R]] by apply/seteqP; split=> // k _; apply/ffunP => -[].
  by rewrite esum_set1 big_ord0 // lee01.
pose q (i : 'I_d) := p (lift ord0 i).
have q0 (k : lattice d) : (0 <= \prod_i q i (k i))%R by apply: prodr_ge0 => i _; exact: p0.
have -> : \esum_(k in [set: lattice d.+1]) (\prod_i p i (k i))%:E =
    \esum_(k in [set: int] `*`` (fun=> [set: lattice d])) (p ord0 k.1 * \prod_i q i (k.2 i))%:E.
  rewrite (reindex_esum ([set: int] `*`` (fun=> [set: lattice d])) [set: lattice d.+1] (@prepended d)).
    by apply: eq_esum => -[a k] _; rewrite big_ord_recl !ffunE unlift_none; congr (_ * _)%:E;
      apply: eq_bigr => i _; rewrite !ffunE liftK.
  split=> //.
    move=> [a k] [a' k'] _ _ /ffunP e; congr pair; first by have := e ord0; rewrite !ffunE unlift_none.
    by apply/ffunP => i; have := e (lift ord0 i); rewrite !ffunE liftK.
  move=> k _; exists (k ord0, [ffun i => k (lift ord0 i)]) => //.
  by apply/ffunP => i; rewrite !ffunE /=; case: unliftP => [j ->|->]; rewrite ?ffunE.
rewrite -(@esum_esum _ _ _ [set: int] (fun=> [set: lattice d]) (fun a k => (p ord0 a * \prod_i q i (k i))%:E)); last first.
  by move=> a k; rewrite lee_fin mulr_ge0.
rewrite -(p1 ord0); apply: eq_esum => a _; rewrite esum_scaled //.
by rewrite IH ?mule1 // => i; [exact: p0|exact: p1].
Qed.

End product.

(* The law that is drawn: whole numbers j with probability proportional to exp(-|j|/s), s the scale in steps of the
   lattice, for every coordinate. *)
Section lattice.
Variables (R : realType) (s : R).
Add Field reals : (real_field R).
Let r := expR (- s^-1) : R.

Definition whole_laplace (j : int) : R := (1 - r) / (1 + r) * r ^+ absz j.

Hypothesis (s0 : 0 < s).

Let r0 : 0 < r. Proof. exact: expR_gt0. Qed.
Let r1 : r < 1. Proof. by rewrite -expR0 ltr_expR oppr_lt0 invr_gt0. Qed.

Let C0 : 0 < (1 - r) / (1 + r). Proof. by rewrite divr_gt0 ?subr_gt0 // addr_gt0. Qed.

Lemma whole_ge0 j : 0 <= whole_laplace j.
Proof. by rewrite mulr_ge0 ?exprn_ge0 // ltW. Qed.

Let series_sum (a : R) : 0 <= a -> (\esum_(n in [set: nat]) (a * r ^+ n)%:E = (a / (1 - r))%:E)%E.
Proof.
move=> a0; have -> : [set: nat] = [set n | xpredT n] by apply/seteqP; split.
rewrite -nneseries_esum => [|n _]; last by rewrite lee_fin mulr_ge0 // exprn_ge0 // ltW.
apply: cvg_lim => //; have -> : (fun n => \sum_(0 <= i < n | xpredT i) (a * r ^+ i)%:E)%E =
    EFin \o series (geometric a r) by apply/funext => n /=; rewrite sumEFin.
apply: (cvg_comp (g := EFin) (cvg_geometric_series _)); first by rewrite gtr0_norm.
by [].
Qed.

(* It is a law. *)
Theorem whole_laplace_is_law : (\esum_(j in [set: int]) (whole_laplace j)%:E = 1)%E.
Proof.
have pos (j : int) : [set: int] j -> (0 <= (whole_laplace j)%:E)%E by rewrite lee_fin whole_ge0.
rewrite (esumID (range Posz) _ _ pos) !setTI.
have -> : ~` range Posz = range Negz.
  apply/seteqP; split=> [[n|n] /= h|_ [n _ <-] [m _]] //; last by exists n.
  by exfalso; apply: h; exists n.
have inj : set_inj [set: nat] Posz by move=> m n _ _ [].
have inj' : set_inj [set: nat] Negz by move=> m n _ _ [].
rewrite (esum_image _ _ _ inj) (esum_image _ _ _ inj').
have -> : (\esum_(n in [set: nat]) (whole_laplace (Posz n))%:E = ((1 - r) / (1 + r) / (1 - r))%:E)%E.
  by rewrite -series_sum // ltW.
have -> : (\esum_(n in [set: nat]) (whole_laplace (Negz n))%:E = ((1 - r) / (1 + r) * r / (1 - r))%:E)%E.
  rewrite -series_sum; last by rewrite mulr_ge0 // ltW.
  by apply: eq_esum => n _; rewrite /whole_laplace /= exprS mulrA.
rewrite -EFinD; congr (_%:E); have n0 : 1 - r != 0 by rewrite subr_eq0 gt_eqF.
have n1 : 1 + r != 0 by rewrite gt_eqF // addr_gt0.
by clearbody r; real_fields R; exact/eqP.
Qed.

(* d numbers, each with noise of its own. *)
Variable d : nat.
Local Notation point := (lattice d).

Definition lattice_laplace (c k : point) : R := \prod_i whole_laplace (k i - c i).

Definition apart (c c' : point) : nat := (\sum_i absz (c i - c' i))%N.

Lemma lattice_laplaceE c k : lattice_laplace c k = ((1 - r) / (1 + r)) ^+ d * r ^+ apart k c.
Proof. by rewrite /lattice_laplace big_split /= prodr_const card_ord -expr_sum. Qed.

Lemma apart_triangle c c' k : (apart k c' <= apart k c + apart c c')%N.
Proof.
rewrite /apart -big_split; apply: leq_sum => i _ /=.
by rewrite -lez_nat PoszD !abszE; exact: ler_dist_add.
Qed.

(* Counts whose L1 distance is at most D on neighbouring tables, with noise of scale at least D/epsilon. *)
Theorem lattice_private (Z : Type) n (counts : ('I_n -> Z) -> point) (D epsilon : R) S S' (E : set point) :
  (forall S S', neighbours S S' -> (apart (counts S) (counts S'))%:R <= D) -> D <= epsilon * s ->
  neighbours S S' ->
  (\esum_(k in E) (lattice_laplace (counts S) k)%:E
    <= (expR epsilon)%:E * \esum_(k in E) (lattice_laplace (counts S') k)%:E)%E.
Proof.
move=> sensitivity scale adj; apply: sum_ratio => [|k|k]; first exact/ltW/expR_gt0.
  by rewrite prodr_ge0 // => i _; exact: whole_ge0.
set c := counts S; set c' := counts S'; rewrite !lattice_laplaceE mulrCA; apply: ler_wpmul2l.
  by rewrite exprn_ge0 // ltW.
rewrite /r -!expRMm -expRD ler_expR !mulrN ler_oppl opprD opprK.
have near : (apart c c')%:R <= epsilon * s by exact: le_trans (sensitivity _ _ adj) scale.
have far : (apart k c')%:R <= (apart k c)%:R + epsilon * s.
  by rewrite (le_trans _ (ler_add (lexx _) near)) // -natrD ler_nat apart_triangle.
rewrite -(ler_pmul2r s0); move: far; set x := (apart k c)%:R; set y := (apart k c')%:R => far.
by apply: (@le_by1 _ _ _ _ _ far); real_fields R; apply/eqP; rewrite gt_eqF.
Qed.


(* The law of counts with noise. *)
Definition counts_with_noise (c : point) (E : set point) : \bar R := (\esum_(k in E) (lattice_laplace c k)%:E)%E.

Let lattice_ge0 c k : (0 <= (lattice_laplace c k)%:E)%E.
Proof. by rewrite lee_fin prodr_ge0 // => i _; exact: whole_ge0. Qed.

Section law.
Variable c : point.

Let noisy0 : counts_with_noise c set0 = 0%E. Proof. exact: esum_set0. Qed.

Let noisy_ge0 E : (0 <= counts_with_noise c E)%E. Proof. by apply: esum_ge0 => k _; exact: lattice_ge0. Qed.

Let noisy_sigma_additive : semi_sigma_additive (counts_with_noise c).
Proof.
move=> F _ disjoint _; rewrite /counts_with_noise esum_bigcupT //.
have -> : [set: nat] = [set i | xpredT i] by apply/seteqP; split.
rewrite -nneseries_esum => [|i _]; last exact: noisy_ge0.
by apply: is_cvg_nneseries => i _; exact: noisy_ge0.
Qed.

HB.instance Definition _ := isMeasure.Build _ _ _ (counts_with_noise c) noisy0 noisy_ge0 noisy_sigma_additive.

End law.

Definition lattice_law c : {measure set point -> \bar R} := [the measure _ _ of counts_with_noise c].

Theorem lattice_law_is_law c : lattice_law c setT = 1%E.
Proof.
apply: (product_is_law (p := fun i j => whole_laplace (j - c i))) => [i j|i]; first exact: whole_ge0.
rewrite -whole_laplace_is_law; apply/esym.
rewrite (reindex_esum [set: int] [set: int] (fun j => j - c i)) //; split=> //; first by move=> a b _ _ /addIr.
by move=> j _; exists (j + c i) => //; rewrite addrK.
Qed.

End lattice.

(* Page N4: every row is in one cell. *)
Section histogram.
Variables (Z : Type) (n C : nat) (cell : 'I_n -> Z -> 'I_C).
Implicit Types S : 'I_n -> Z.

Definition histogram S : lattice C := [ffun c => \sum_i ((cell i (S i) == c) : nat)%:Z].

Lemma histogram_moves S S' i c : (forall j, j != i -> S j = S' j) ->
  histogram S c - histogram S' c = ((cell i (S i) == c) : nat)%:Z - ((cell i (S' i) == c) : nat)%:Z.
Proof.
move=> same; rewrite !ffunE (bigD1 i) //= [X in _ - X](bigD1 i) //=.
rewrite (eq_bigr (fun j => ((cell j (S' j) == c) : nat)%:Z)) => [|j /same -> //].
by rewrite opprD addrACA subrr addr0.
Qed.

(* Two counts move, by 1 each: the L1 distance is at most 2, and so is the square of the L2 distance. *)
Lemma histogram_apart S S' : neighbours S S' ->
  (apart (histogram S) (histogram S') <= 2)%N /\ (\sum_c absz (histogram S c - histogram S' c) ^ 2 <= 2)%N.
Proof.
move=> [i same]; have once (a : 'I_C) : (\sum_c (a == c) = 1)%N.
  by rewrite (bigD1 a) //= eqxx big1 // => c; rewrite eq_sym => /negbTE->.
have two : (\sum_c ((cell i (S i) == c) + (cell i (S' i) == c)) = 2)%N by rewrite big_split /= !once.
split; rewrite -[X in (_ <= X)%N]two; apply: leq_sum => c _; rewrite (histogram_moves c same);
  by case: (_ == c); case: (_ == c).
Qed.

End histogram.

Section evaluation.
Variables (R : realType) (Z : Type) (n C : nat) (s : R) (cell : 'I_n -> Z -> 'I_C).
Hypothesis s0 : 0 < s.

Definition noisy_histogram (S : 'I_n -> Z) : {measure set (lattice C) -> \bar R} := lattice_law s0 (histogram cell S).

(* Counts with Laplace noise on whole numbers. *)
Theorem N4_counts : private (2 / s) 0 noisy_histogram.
Proof.
move=> S S' adj E _; rewrite adde0; apply: (lattice_private s0 (D := 2)) => //; last by rewrite divfK // gt_eqF.
by move=> T T' /(histogram_apart cell)[two _]; rewrite -[X in _ <= X]/(2%:R) ler_nat.
Qed.

(* Further counts, of which coins may decide: the law nu of all coins knows nothing of the rows. *)
Context d (U : measurableType d).
Variables (nu : {measure set U -> \bar R}) (nu1 : nu setT = 1%E) (B : nat) (s' : R) (bin : U -> 'I_n -> Z -> 'I_B).
Hypotheses (s0' : 0 < s') (mbin : forall i z b, measurable [set u | bin u i z = b]).
Local Notation first := [the measurableType _ of (U * lattice C)%type].

Lemma measurable_further S : measurable_fun setT (fun u => histogram (bin u) S : lattice B).
Proof.
move=> _ E _; rewrite setTI; pose dealt u : {ffun 'I_n -> 'I_B} := [ffun i => bin u i (S i)].
pose counted (b : {ffun 'I_n -> 'I_B}) : lattice B := histogram (fun i (_ : Z) => b i) S.
have -> : (fun u => histogram (bin u) S : lattice B) @^-1` E =
    \bigcup_(b in [set b | E (counted b)]) \bigcap_(i in [set: 'I_n]) [set u | bin u i (S i) = b i].
  have same u : histogram (bin u) S = counted (dealt u).
    by apply/ffunP => c; rewrite !ffunE; apply: eq_bigr => i _; rewrite ffunE.
  apply/seteqP; split=> u /=; first by rewrite same => h; exists (dealt u) => // i _ /=; rewrite ffunE.
  move=> [b Eb all]; rewrite same (_ : dealt u = b) //; apply/ffunP => i; rewrite ffunE; exact: all.
apply: fin_bigcup_measurable => [|b _]; first exact: finite_finset.
by apply: fin_bigcap_measurable => [|i _]; [exact: finite_finset|exact: mbin].
Qed.

Definition further_histogram (S : 'I_n -> Z) : kernel R first (lattice B).
Proof.
apply: (@Kernel _ _ _ _ _ (fun p : U * lattice C => lattice_law s0' (histogram (bin p.1) S))) => [p|E mE].
  exact: lattice_law_is_law.
have [mfst _] := (@prod_measurable_funP _ _ _ _ _ _ idfun).1 (@measurable_fun_id _ first setT).
have mg : measurable_fun setT (fun c : lattice B => lattice_law s0' c E) by move=> _ A _.
exact: (measurable_fun_comp mg (measurable_fun_comp (measurable_further S) mfst)).
Defined.

(* What is released: both histograms, without the coins. *)
Definition both (p : (first * lattice B)%type) : (lattice C * lattice B)%type := (p.1.2, p.2).

Lemma measurable_both : measurable_fun setT both.
Proof.
have [m1 m2] := (@prod_measurable_funP _ _ _ _ _ _ idfun).1
  (@measurable_fun_id _ [the measurableType _ of (first * lattice B)%type] setT).
have [_ m12] := (@prod_measurable_funP _ _ _ _ _ _ idfun).1 (@measurable_fun_id _ first setT).
apply/prod_measurable_funP; split; [exact: (measurable_fun_comp m12 m1)|exact: m2].
Qed.

Definition evaluation (S : 'I_n -> Z) : {measure set (lattice C * lattice B)%type -> \bar R} :=
  [the measure _ _ of pushforward (joint_law (joint_law nu (constant_kernel U (lattice_law_is_law s0 (histogram cell S))))
    (further_histogram S)) measurable_both].

(* Both histograms with real noise, such as Gaussian noise: numbers of R^(C + B), the further ones times w = s/s', so that
   the noise has one scale. *)
Definition weighed (w : R) (u : U) (S : 'I_n -> Z) : 'rV[R]_(C + B) :=
  row_mx (\row_c (histogram cell S c)%:~R) (w *: \row_b (histogram (bin u) S b)%:~R).

Lemma measurable_weighed w S : measurable_fun setT (fun u => weighed w u S : vectors R (C + B)).
Proof.
apply: measurable_vector => i; case: (split_ordP i) => j ->; rewrite /weighed.
  by under eq_fun do rewrite row_mxEl; exact: measurable_fun_cst.
under eq_fun do rewrite row_mxEr !mxE.
have mg : measurable_fun setT (fun c : lattice B => w * (c j)%:~R) by move=> _ A _.
exact: (measurable_fun_comp mg (measurable_further S)).
Qed.

Lemma weighed_apart w u S S' : neighbours S S' -> 0 <= w ->
  norm (coordinates R (C + B)) (weighed w u S - weighed w u S') <= Num.sqrt 2 * (1 + w).
Proof.
move=> adj w0; have [_ a2] := histogram_apart cell adj; have [_ b2] := histogram_apart (bin u) adj.
have w1 : 0 <= 1 + w by rewrite addr_ge0.
rewrite -[X in _ <= _ * X]ger0_norm // -sqrtr_sqr -sqrtrM ?ler0n //; apply: ler_wsqrtr.
have whole (k : int) : k%:~R * k%:~R = (absz k ^ 2)%:R :> R.
  by rewrite natrX natr_absz intr_norm -normrX ger0_norm ?sqr_ge0 // expr2.
have -> : dot (coordinates R (C + B)) (weighed w u S - weighed w u S') (weighed w u S - weighed w u S') =
    (\sum_c absz (histogram cell S c - histogram cell S' c) ^ 2)%:R +
    w ^+ 2 * (\sum_b absz (histogram (bin u) S b - histogram (bin u) S' b) ^ 2)%:R.
  have less (x y : 'rV[R]_(C + B)) i : (x - y) 0 i = x 0 i - y 0 i by rewrite !mxE.
  have whole_less (k l : int) : k%:~R - l%:~R = (k - l)%:~R :> R by rewrite rmorphB.
  rewrite /= /coordinate_dot big_split_ord /= !natr_sum mulr_sumr; congr (_ + _); apply: eq_bigr => i _; rewrite !less.
    by rewrite /weighed !row_mxEl ![(\row_c _) _ _]mxE whole_less whole.
  have scaled (x : 'rV[R]_B) j : (w *: x) 0 j = w * x 0 j by rewrite mxE.
  rewrite /weighed !row_mxEr !scaled ![(\row_b _) _ _]mxE.
  by rewrite -mulrBr whole_less mulrACA whole -expr2.
have ha : (\sum_c absz (histogram cell S c - histogram cell S' c) ^ 2)%:R <= 2 :> R.
  by rewrite -[X in _ <= X]/(2%:R) ler_nat.
have hb : (\sum_b absz (histogram (bin u) S b - histogram (bin u) S' b) ^ 2)%:R <= 2 :> R.
  by rewrite -[X in _ <= X]/(2%:R) ler_nat.
apply: (le_trans (ler_add ha (ler_wpmul2l (sqr_ge0 w) hb))).
rewrite [w ^+ 2 * _]mulrC -[X in X + _]mulr1 -mulrDr ler_wpmul2l ?ler0n //.
by rewrite sqrrD expr1n mul1r ler_add2r ler_addl mulrn_wge0.
Qed.

(* The page: purely private with Laplace noise; and whatever real noise hides a distance of sqrt(2) (1 + w) at
   (epsilon, delta), as page D3 says of Gaussian noise, makes both histograms so private, without the coins. *)
Theorem N4 : private (2 / s + 2 / s') 0 evaluation /\
  forall (w epsilon delta : R) (noise : {measure set (vectors R (C + B)) -> \bar R}) (noise1 : noise setT = 1%E),
    0 <= w -> 0 <= delta ->
    (forall v v', norm (coordinates R (C + B)) (v - v') <= Num.sqrt 2 * (1 + w) ->
      close epsilon delta (shifted noise v) (shifted noise v')) ->
    private epsilon delta (fun S => mixture nu (shifted_kernel noise1 (measurable_weighed w S))).
Proof.
split; last first.
  move=> w epsilon delta noise noise1 w0 delta0 hides; apply: N3_coins => // u S S' adj.
  by apply: hides; exact: weighed_apart.
have coins : private 0 0 (fun _ : 'I_n -> Z => nu) by move=> S S' _ E _; rewrite expR0 mul1e adde0.
have two := N3_sequence (fun=> nu1)
  (N := fun S => constant_kernel U (lattice_law_is_law s0 (histogram cell S))) (lexx 0) coins (fun=> N4_counts).
have law S : joint_law nu (constant_kernel U (lattice_law_is_law s0 (histogram cell S))) setT = 1%E.
  exact: joint_is_law.
have closeB y : private (2 / s') 0 (fun S => further_histogram S y).
  move=> S S' adj E _; rewrite adde0; apply: (lattice_private s0' (D := 2)) adj => //; last by rewrite divfK // gt_eqF.
  by move=> T T' /(histogram_apart (bin y.1))[le _]; rewrite -[X in _ <= X]/(2%:R) ler_nat.
have := N3_function measurable_both (N3_sequence law (lexx 0) two closeB).
by rewrite add0r !addr0.
Qed.

End evaluation.
