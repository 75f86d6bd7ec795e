(* Page D2: the law with the product density is the law of independent Laplace variables, and the only one. *)

From HB Require Import structures.
From mathcomp Require Import all_ssreflect ssralg ssrnum ssrint zmodp matrix interval.
From mathcomp.classical Require Import boolp classical_sets functions cardinality mathcomp_extra set_interval.
From mathcomp.analysis Require Import reals ereal topology normedtype realfun sequences signed esum.
From mathcomp.analysis Require Import measure lebesgue_measure numfun lebesgue_integral exp.
From Equipoise Require Import Arithmetic InnerProduct Minimisers Privacy Vectors Laplace Lebesgue Noise.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Import numFieldTopology.Exports.
Local Open Scope classical_set_scope.
Local Open Scope ring_scope.
Local Open Scope ereal_scope.

Section independent.
Variables (R : realType) (b : R).
Hypothesis b_gt0 : (0 < b)%R.
Local Notation line := (line R).
Local Notation vectors := (vectors R).
Local Notation lebesgue := (lebesgue R).
Local Notation length1 := (@length1 R _).

(* What exp(-|a|/b) weighs on a set of the line. *)
Definition line_weight (A : set line) : R := fine (\int[length R]_(a in A) (laplace_line b a)%:E).

(* One Laplace variable of scale b. *)
Definition laplace_variable (A : set line) : R := (line_weight A / line_weight setT)%R.

(* The event that every coordinate lies in its set. *)
Definition box d (A : 'I_d -> set line) : set (vectors d) := [set x | forall i, A i ((x : 'rV[R]_d) 0%R i)].

(* A law of d independent Laplace variables. *)
Definition independent_laplace d (noise : set (vectors d) -> \bar R) := forall A : 'I_d -> set line,
  (forall i, measurable (A i)) -> noise (box A) = (\prod_i laplace_variable (A i))%:E.

Let measurable_line A : measurable_fun A (EFin \o laplace_line b).
Proof. by apply: measurable_funTS; apply/EFin_measurable_fun; exact: measurable_laplace_line. Qed.

Let line_ge0 a : 0 <= (laplace_line b a)%:E. Proof. by rewrite lee_fin ltW // expR_gt0. Qed.

Lemma line_weightE A : measurable A -> \int[length R]_(a in A) (laplace_line b a)%:E = (line_weight A)%:E.
Proof.
move=> mA; rewrite /line_weight fineK // ge0_fin_numE; last by apply: integral_ge0 => a _.
apply: le_lt_trans (laplace_line_finite b_gt0).
by apply: subset_integral => //; exact: measurable_line.
Qed.

Lemma line_weight_ge0 A : (0 <= line_weight A)%R.
Proof. by rewrite fine_ge0 // integral_ge0 // => a _. Qed.

Lemma measurable_box d (A : 'I_d -> set line) : (forall i, measurable (A i)) -> measurable (box A).
Proof.
move=> mA; pose at_place i : set (vectors d) := (fun x : vectors d => (x : 'rV[R]_d) 0%R i) @^-1` A i.
have -> : box A = \bigcap_(i in [set: 'I_d]) at_place i by apply/seteqP; split=> x h; [move=> i _; exact: h|move=> i; exact: h].
apply: fin_bigcap_measurable => [|i _]; first exact: finite_finset.
rewrite /at_place -[X in measurable X]setTI; apply: measurable_coordinate => //; exact: mA.
Qed.

Let measurable_density d (A : set (vectors d)) : measurable_fun A (fun x => (expR (- (length1 x / b)))%:E).
Proof.
by apply: measurable_funTS; apply/EFin_measurable_fun; apply: measurable_exponential; exact: measurable_length1.
Qed.

Let density_ge0 d (x : vectors d) : 0 <= (expR (- (length1 x / b)))%:E.
Proof. by rewrite lee_fin ltW // expR_gt0. Qed.

Let in_box d (A : 'I_d.+1 -> set line) (a : line) (x : vectors d) :
  (prepend (a, x) \in box A) = (a \in A ord0) && (x \in box (fun j => A (lift ord0 j))).
Proof.
apply/idP/andP => [/set_mem h|[/set_mem ha /set_mem hx]].
  split; apply/mem_set; first by have := h ord0; rewrite mxE unlift_none.
  by move=> j; have := h (lift ord0 j); rewrite mxE liftK.
apply/mem_set => i; rewrite mxE; case: unliftP => [j ->|->] //=; exact: hx.
Qed.

Lemma box_weight d (A : 'I_d -> set line) : (forall i, measurable (A i)) ->
  \int[lebesgue d]_(x in box A) (expR (- (length1 x / b)))%:E = (\prod_i line_weight (A i))%:E.
Proof.
elim: d A => [|d IH] A mA.
  rewrite big_ord0 (_ : box A = setT); last by apply/seteqP; split=> // x _ [].
  by rewrite integral_dirac // /Laplace.length1 big_ord0 mul0r oppr0 expR0 mule1 indicE in_setT.
have mbox := measurable_box mA.
rewrite integral_mkcond integral_prepend; last 2 first.
- apply/(measurable_restrict _ mbox measurableT (@subsetT _ _)); exact: measurable_density.
- by move=> x; rewrite /patch; case: ifP.
pose A' j := A (lift ord0 j); have mA' j : measurable (A' j) by exact: mA.
pose J : R := (\prod_j line_weight (A' j))%R.
have J0 : (0 <= J)%R by apply: prodr_ge0 => j _; exact: line_weight_ge0.
rewrite (eq_integral (fun a => J%:E * ((EFin \o laplace_line b) \_ (A ord0)) a)) => [|a _]; last first.
  rewrite /patch; case: ifPn => [aA|aA]; last first.
    transitivity (\int[lebesgue d]_x cst (0 : \bar R) x); last by rewrite integral0 mule0.
    by apply: eq_integral => x _; rewrite in_box (negbTE aA).
  rewrite muleC -(IH A' mA') /= -ge0_integralM_EFin //; last 3 first.
  - exact: measurable_box.
  - exact: measurable_density.
  - by rewrite ltW // expR_gt0.
  rewrite [RHS]integral_mkcond; apply: eq_integral => x _; rewrite in_box aA /= /patch; case: ifP => // _.
  by rewrite -EFinM length1_prepend /laplace_line -expRD mulrDl opprD.
rewrite ge0_integralM_EFin //; last 2 first.
- by move=> a _; rewrite /patch; case: ifP => // _; exact: line_ge0.
- apply/(measurable_restrict _ (mA ord0) measurableT (@subsetT _ _)); exact: measurable_line.
rewrite -integral_mkcond line_weightE // -EFinM big_ord_recl mulrC.
by [].
Qed.

(* The law with the product density has independent coordinates, each a Laplace variable. *)
Theorem laplace_independent d (noise : {measure set (vectors d) -> \bar R}) (c : R) :
  noise setT = 1 -> (0 <= c)%R ->
  has_density (lebesgue d) noise (fun k => c * \prod_i expR (- (`|(k : 'rV[R]_d) 0 i| / b)))%R ->
  independent_laplace noise.
Proof.
move=> one c0 [_ _ density].
have weigh A : (forall i, measurable (A i)) -> noise (box A) = (c * \prod_i line_weight (A i))%:E.
  move=> mA; rewrite density; last exact: measurable_box.
  rewrite EFinM -(box_weight mA) -ge0_integralM_EFin //; last exact: (measurable_box mA).
  by apply: eq_integral => x _; rewrite product_exponential EFinM.
have := weigh (fun=> setT) (fun=> measurableT).
rewrite (_ : box _ = setT); last by apply/seteqP; split.
rewrite one => -[] unit A mA; rewrite weigh //; congr EFin.
rewrite big_split /= prodfV; set W := (\prod_i line_weight setT)%R in unit *.
have W0 : W != 0%R by apply: contra_eq_neq unit => ->; rewrite mulr0 oner_eq0.
by rewrite -[c]mulr1 -(divff W0) mulrA -unit mul1r mulrC.
Qed.

(* There is only one law of independent Laplace variables. *)
Lemma independent_laplace_unique d (m1 m2 : {measure set (vectors d) -> \bar R}) :
  independent_laplace m1 -> independent_laplace m2 -> forall E, measurable E -> m1 E = m2 E.
Proof.
move=> i1 i2 E mE; pose G : set (set (vectors d)) := [set X | exists2 A : 'I_d -> set line, (forall i, measurable (A i)) & X = box A].
have GT : G setT by exists (fun=> setT) => //; apply/seteqP; split.
apply: (@g_salgebra_measure_unique _ R _ G _ (fun=> setT)) => //.
- by move=> _ [A mA ->]; exact: measurable_box.
- by rewrite bigcup_const //; exists 0%N.
- move=> _ _ [A mA ->] [A' mA' ->]; exists (fun i => A i `&` A' i) => [i|]; first exact: measurableI.
  by apply/seteqP; split=> x; [move=> [h h'] i; split; [exact: h|exact: h']|move=> h; split=> i; case: (h i)].
- by move=> _ [A mA ->]; rewrite i1 // i2.
- by move=> _; have [A mA ->] := GT; rewrite i1 // ltry.
apply: (sub_sigma_algebra2 _ mE) => _ [i [B [mB ->]]].
exists (fun j => if j == i then B else setT) => [j|]; first by case: ifP.
apply/seteqP; split=> x /= h; last by have := h i; rewrite eqxx.
by move=> j; case: eqP => // ->.
Qed.

(* Page D2, about independent Laplace variables of scale b, for a shift whose coordinates' sizes sum to s at most. *)
Theorem D2_sum d (noise : {measure set (vectors d) -> \bar R}) (s : R) (w w' : 'rV[R]_d) :
  independent_laplace noise -> (length1 (w - w') <= s)%R -> close (s / b) 0 (shifted noise w) (shifted noise w').
Proof.
move=> independent near; have invariant : translation_invariant (lebesgue d) by move=> v E; exact: lebesgue_translation.
have [noise' [c [one c0 density]]] := laplace_exists d b_gt0.
have same := independent_laplace_unique independent (laplace_independent one c0 density).
apply: (product_laplace_sum invariant _ b_gt0 c0 near); have [mp p0 pE] := density; split=> // E mE.
by rewrite same // pE.
Qed.

(* The whole page: for the sum of the coordinates' sizes, and for the Euclidean length. *)
Theorem D2 d (noise : {measure set (vectors d) -> \bar R}) (w w' : 'rV[R]_d) : independent_laplace noise ->
  (forall s : R, (length1 (w - w') <= s)%R -> close (s / b) 0 (shifted noise w) (shifted noise w')) /\
  (forall Delta : R, (norm (coordinates R d) (w - w') <= Delta)%R ->
    close (Num.sqrt d%:R * Delta / b) 0 (shifted noise w) (shifted noise w')).
Proof.
move=> independent; split=> [s|Delta] near; apply: D2_sum => //.
by apply: (le_trans (length1_norm _)); rewrite ler_wpmul2l // sqrtr_ge0.
Qed.

Theorem independent_laplace_exists d : exists noise : {measure set (vectors d) -> \bar R},
  noise setT = 1 /\ independent_laplace noise.
Proof.
have [noise [c [one c0 density]]] := laplace_exists d b_gt0.
by exists noise; split=> //; exact: laplace_independent density.
Qed.

End independent.
