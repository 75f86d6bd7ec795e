(* Pages N1 and N2: all rows of a person, and classes with public weights. What counts in one slot is a combination of
   rows with non-negative shares that add up to at most 1; its gradients lie in the hull of the rows' gradients and 0. *)

From mathcomp Require Import all_ssreflect ssralg ssrnum.
From mathcomp.classical Require Import boolp classical_sets.
From mathcomp.analysis Require Import reals.
From Equipoise Require Import Arithmetic InnerProduct Minimisers Radius Approximate.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section groups.
Variables (R : realType) (V : lmodType R) (ip : inner_product V).
Variables (Z : Type) (loss : Z -> V -> R) (G : Z -> V -> V -> Prop).
Implicit Types (g : seq (R * Z)) (w s b : V).
Add Field reals : (real_field R).
Local Notation norm := (norm ip).

Definition group_loss g w : R := \sum_(c <- g) c.1 * loss c.2 w.

Fixpoint group_slopes g w s : Prop :=
  if g is c :: g' then exists s1 s2, [/\ G c.2 w s1, group_slopes g' w s2 & s = c.1 *: s1 + s2] else s = 0.

Definition total g : R := \sum_(c <- g) c.1.
Definition admissible g := all (fun c : R * Z => 0 <= c.1) g && (total g <= 1).

Lemma group_has_slopes g : (forall z, slopes ip (G z) (loss z)) -> all (fun c : R * Z => 0 <= c.1) g ->
  slopes ip (group_slopes g) (group_loss g).
Proof.
move=> slope; elim: g => [_|c g IH /= /andP[c0 g0]] w h.
  exists 0 => //; rewrite dot0l (_ : group_loss [::] = fun=> 0); first exact: directional0.
  by apply/funext => x; rewrite /group_loss big_nil.
have [s1 Gs1 d1] := slope c.2 w h; have [s2 Gs2 d2] := IH g0 w h.
exists (c.1 *: s1 + s2); first by exists s1, s2.
rewrite (_ : group_loss (c :: g) = fun x => c.1 * loss c.2 x + group_loss g x); last first.
  by apply/funext => x; rewrite /group_loss big_cons.
by rewrite dotDl dotZl; apply: directionalD => //; exact: directionalM.
Qed.

Lemma group_convex g (C : V -> Prop) : (forall z, convex ip C (loss z)) ->
  all (fun c : R * Z => 0 <= c.1) g -> convex ip C (group_loss g).
Proof.
move=> convexl; elim: g => [_|c g IH /= /andP[c0 g0]] x y t Cx Cy t01.
  by rewrite /group_loss !big_nil !mulr0 !mul0r !addr0 subr0.
have h1 := ler_wpmul2l c0 (convexl c.2 x y t Cx Cy t01); have h2 := IH g0 x y t Cx Cy t01.
rewrite /group_loss !big_cons -!/(group_loss g _).
by apply: (@le_by2 _ _ _ _ _ _ _ h1 h2); real_fields R.
Qed.

(* The hull of a set and of 0 is no further from a point than the set and 0 are. *)
Lemma hull_distance (D : R) g w s b : all (fun c : R * Z => 0 <= c.1) g ->
  (forall z s', G z w s' -> norm (s' - b) <= D) -> group_slopes g w s ->
  norm (s - total g *: b) <= total g * D.
Proof.
move=> + near; elim: g s => [s _ ->|c g IH s /= /andP[c0 g0] [s1 [s2 [Gs1 Gs2 ->]]]].
  by rewrite /total big_nil scale0r subrr norm0 mul0r.
rewrite /total big_cons -/(total g) scalerDl mulrDl opprD addrACA -scalerBr.
apply: (le_trans (norm_triangle _ _ _)); apply: ler_add; last exact: IH.
by rewrite normZ ger0_norm // ler_wpmul2l //; exact: near Gs1.
Qed.

Lemma admissible_distance (D : R) g w s b : admissible g -> norm b <= D ->
  (forall z s', G z w s' -> norm (s' - b) <= D) -> group_slopes g w s -> norm (s - b) <= D.
Proof.
move=> /andP[g0 g1] bD near Gs; have h := hull_distance g0 near Gs.
have -> : s - b = (s - total g *: b) - (1 - total g) *: b.
  by rewrite scalerBl scale1r opprB addrA subrK.
apply: (le_trans (norm_triangle _ _ _)); rewrite normN normZ ger0_norm ?subr_ge0 //.
have h2 : (1 - total g) * norm b <= (1 - total g) * D by rewrite ler_wpmul2l // subr_ge0.
by apply: (@le_by2 _ _ _ _ _ _ _ h h2); real_ring R.
Qed.

(* Page N1 (1), page N2 (1): the diameter of what counts in a slot is that of a row, if 0 is among the gradients. *)
Lemma group_diameter (Gam : R) g g' w s s' : admissible g -> admissible g' ->
  (forall z z' s s', G z w s -> G z' w s' -> norm (s - s') <= Gam) -> (exists z, G z w 0) ->
  group_slopes g w s -> group_slopes g' w s' -> norm (s - s') <= Gam.
Proof.
move=> ag ag' diameter [z0 G0] Gs Gs'.
have Gs'_near z b : G z w b -> norm (s' - b) <= Gam.
  move=> Gb; apply: (admissible_distance ag') Gs' => [|z' b' Gb']; last exact: diameter Gb' Gb.
  by have := diameter _ _ _ _ Gb G0; rewrite subr0.
apply: (admissible_distance ag) Gs => [|z b Gb]; last by rewrite norm_subC; exact: Gs'_near Gb.
by have := Gs'_near _ _ G0; rewrite subr0.
Qed.

(* Lemma R: the pull of a group is at most a row's. *)
Lemma group_pull (pull : R) g w s : admissible g -> 0 <= pull ->
  (forall z s, G z w s -> - dot ip s w <= pull) -> group_slopes g w s -> - dot ip s w <= pull.
Proof.
move=> /andP[g0 g1] pull0 bound Gs; apply: (@le_trans _ _ (total g * pull)); last first.
  by rewrite ler_pimull.
elim: g g0 s Gs {g1} => [_ s ->|c g IH /= /andP[c0 g0] s [s1 [s2 [Gs1 Gs2 ->]]]].
  by rewrite dot0l oppr0 /total big_nil mul0r.
rewrite dotDl dotZl opprD /total big_cons -/(total g) mulrDl -mulrN.
by apply: ler_add; [apply: ler_wpmul2l => //; exact: bound Gs1|exact: IH].
Qed.

(* So is its Lipschitz constant. *)
Lemma group_lipschitz (rho : R) g x y : admissible g -> 0 <= rho ->
  (forall z, `|loss z x - loss z y| <= rho * norm (x - y)) ->
  `|group_loss g x - group_loss g y| <= rho * norm (x - y).
Proof.
move=> /andP[g0 g1] rho0 lipschitz; set D := rho * norm (x - y).
have D0 : 0 <= D by rewrite mulr_ge0 ?norm_ge0.
apply: (@le_trans _ _ (total g * D)); last by rewrite ler_pimull.
elim: g g0 {g1} => [_|c g IH /= /andP[c0 g0]]; first by rewrite /group_loss !big_nil subrr normr0 /total big_nil mul0r.
rewrite /group_loss !big_cons -!/(group_loss g _) /total big_cons -/(total g) mulrDl opprD addrACA.
apply: (le_trans (ler_norm_add _ _)); apply: ler_add; last exact: IH.
by rewrite -mulrBr normrM ger0_norm // ler_wpmul2l.
Qed.

End groups.

Section slots.
Variables (R : realType) (V : lmodType R) (ip : inner_product V).
Variables (Z : Type) (loss : Z -> V -> R) (G : Z -> V -> V -> Prop) (penalty : V -> R) (C D : V -> Prop) (Gam rho mu : R).
Add Field reals' : (real_field R).
Local Notation norm := (norm ip).

(* What the pages ask of rows, penalty and constraint; D is where minimisers lie. *)
Definition rows_as_in_A2 := [/\ convex_set C, forall z, convex ip C (loss z),
  strongly_convex ip mu C penalty, forall z, slopes ip (G z) (loss z) &
  forall x z z' s s', D x -> G z x s -> G z' x s' -> norm (s - s') <= Gam].

(* The pages' bounds for any kind of slot. A2: exact minimisers. *)
Definition minimisers_bound (P : Type) (slot_loss : P -> V -> R) := forall n (S S' : 'I_n -> P) w w',
  neighbours S S' -> (forall (S : 'I_n -> P) x, minimiser C (objective slot_loss penalty S) x -> D x) ->
  minimiser C (objective slot_loss penalty S) w -> minimiser C (objective slot_loss penalty S') w' ->
  norm (w - w') <= Gam / (n%:R * mu).

(* A4: what a solver returns, within tau/mu of exact minimisers. *)
Definition solved_bound (P : Type) (slot_loss : P -> V -> R) := forall n (S S' : 'I_n -> P) tau w w',
  neighbours S S' -> (forall (S : 'I_n -> P) x, minimiser C (objective slot_loss penalty S) x -> D x) ->
  near_minimiser ip C (objective slot_loss penalty S) (tau / mu) w ->
  near_minimiser ip C (objective slot_loss penalty S') (tau / mu) w' ->
  norm (w - w') <= Gam / (n%:R * mu) + 2 * tau / mu.

(* A4, "with the curvature of one dataset": points with subgradients p and p'; no minimiser need exist. *)
Definition subgradients_bound (P : Type) (slot_loss : P -> V -> R) := forall n (S S' : 'I_n -> P) w w' p p',
  neighbours S S' -> D w' -> subgradient ip C (objective slot_loss penalty S) w p ->
  subgradient ip C (objective slot_loss penalty S') w' p' ->
  norm (w - w') <= (Gam / n%:R + norm p + norm p') / mu.

(* A1. *)
Definition gradients_bound (P : Type) (slot_loss : P -> V -> R) := forall n (S S' : 'I_n -> P) w w',
  neighbours S S' -> (forall x z s, D x -> G z x s -> norm s <= rho) -> D w -> D w' ->
  minimiser C (objective slot_loss penalty S) w -> minimiser C (objective slot_loss penalty S') w' ->
  norm (w - w') <= 2 * rho / (n%:R * mu).

(* Lemma R. *)
Definition radius_bound (P : Type) (slot_loss : P -> V -> R) := forall n (S : 'I_n -> P) pull w,
  (0 < n)%N -> minimiser C penalty 0 -> 0 <= pull -> (forall z s, G z w s -> - dot ip s w <= pull) ->
  minimiser C (objective slot_loss penalty S) w -> mu * norm w ^+ 2 <= pull.

Definition as_rows (P : Type) (slot_loss : P -> V -> R) := [/\ minimisers_bound slot_loss, solved_bound slot_loss,
  subgradients_bound slot_loss, gradients_bound slot_loss & radius_bound slot_loss].

Hypotheses (mu_gt0 : 0 < mu) (rho_ge0 : 0 <= rho) (rows : rows_as_in_A2).
Hypothesis origin : forall x, D x -> exists z, G z x 0.

(* What stands in a slot is of any type P, and counts as the group `shares p` of rows. *)
Theorem shared_slots (P : Type) (shares : P -> seq (R * Z)) :
  (forall p, admissible (shares p)) -> as_rows (fun p => group_loss loss (shares p)).
Proof.
move=> adm; have [convexC convexl convexr slope diameter] := rows.
have shares0 p : all (fun c : R * Z => 0 <= c.1) (shares p) by case/andP: (adm p).
have convexF n (S : 'I_n -> P) : strongly_convex ip mu C (objective (fun p => group_loss loss (shares p)) penalty S).
  by apply: objective_convex => // p; exact: group_convex.
have group_slope p : slopes ip (group_slopes G (shares p)) (group_loss loss (shares p)) by exact: group_has_slopes.
have one : subgradients_bound (fun p => group_loss loss (shares p)).
  move=> n S S' w w' p p' adj Dw'; apply: (one_curvature adj mu_gt0 convexC (convexF _ S) group_slope) => q q' s s'.
  by apply: (group_diameter (adm q) (adm q') _ (origin Dw')) => z z' t t'; exact: diameter.
have exact_bound : minimisers_bound (fun p => group_loss loss (shares p)).
  move=> n S S' w w' adj inD minw minw'.
  have := one _ _ _ _ _ _ _ adj (inD _ _ minw') ((minimiser_subgradient ip _ _ _).1 minw)
    ((minimiser_subgradient ip _ _ _).1 minw').
  by rewrite norm0 !addr0 invfM mulrA.
split=> //.
- move=> n S S' tau w w' adj inD [w_S minw near] [w_S' minw' near'].
  exact: (A4 (exact_bound _ _ _ _ _ adj inD minw minw') near near').
- move=> n S S' w w' adj small Dw Dw' minw minw'.
  apply: (A1 (D := fun x => D x /\ C x) adj mu_gt0 rho_ge0 convexC (convexF n) _ _ _ minw minw') => [p x y||].
  + move=> [Dx Cx] [Dy Cy]; apply: group_lipschitz => // z.
    by apply: (convex_lipschitz (convexl z) (slope z)) => // s [Gs|Gs]; [exact: small Dx Gs|exact: small Dy Gs].
  + by split=> //; exact: minw.1.
  + by split=> //; exact: minw'.1.
- move=> n S pull w n0 min0 pull0 bound.
  apply: (lemma_R n0 convexC convexr min0 group_slope) => q s.
  exact: (group_pull (adm q) pull0 bound).
Qed.

(* Page N1: a person is the list of their rows, the empty list an empty slot; the first k_max count. *)
Definition person_loss (k_max : nat) (p : seq Z) w : R :=
  (size (take k_max p))%:R^-1 * \sum_(z <- take k_max p) loss z w.

Definition person_shares (k_max : nat) (p : seq Z) : seq (R * Z) :=
  [seq ((size (take k_max p))%:R^-1, z) | z <- take k_max p].

Lemma person_lossE k_max : person_loss k_max = fun p => group_loss loss (person_shares k_max p).
Proof. by apply/funext => p; apply/funext => x; rewrite /group_loss big_map /person_loss mulr_sumr. Qed.

Lemma person_admissible k_max p : admissible (person_shares k_max p).
Proof.
rewrite /admissible all_map /total big_map; apply/andP; split.
  by rewrite (@eq_all _ _ predT) ?all_predT // => z /=; rewrite invr_ge0 ler0n.
rewrite big_const_seq count_predT iter_addr_0 -[_ *+ size _]mulr_natl.
by case: (size _) => [|k]; rewrite ?mul0r ?ler01 // divff ?pnatr_eq0.
Qed.

(* Page N1, part 1, for output perturbation. *)
Theorem N1 k_max : as_rows (person_loss k_max).
Proof. by rewrite person_lossE; apply: shared_slots; exact: person_admissible. Qed.

(* Page N2: the row z counts for count z, at most 1. *)
Variable count : Z -> R.
Hypothesis count01 : forall z, 0 <= count z <= 1.

Definition weighted_loss (z : Z) w : R := count z * loss z w.

Definition row_shares (z : Z) : seq (R * Z) := [:: (count z, z)].

Lemma weighted_lossE : weighted_loss = fun z => group_loss loss (row_shares z).
Proof. by apply/funext => z; apply/funext => x; rewrite /group_loss big_seq1. Qed.

Lemma row_admissible z : admissible (row_shares z).
Proof. by rewrite /admissible /total big_seq1 /= andbT. Qed.

Theorem N2 : as_rows weighted_loss.
Proof. by rewrite weighted_lossE; apply: shared_slots; exact: row_admissible. Qed.

(* Page N2, part 2: both. *)
Definition weighted_person_loss (k_max : nat) (p : seq Z) w : R :=
  (size (take k_max p))%:R^-1 * \sum_(z <- take k_max p) count z * loss z w.

Definition weighted_person_shares (k_max : nat) (p : seq Z) : seq (R * Z) :=
  [seq ((size (take k_max p))%:R^-1 * count z, z) | z <- take k_max p].

Lemma weighted_person_lossE k_max : weighted_person_loss k_max = fun p => group_loss loss (weighted_person_shares k_max p).
Proof.
apply/funext => p; apply/funext => x; rewrite /group_loss big_map /weighted_person_loss mulr_sumr.
by apply: eq_bigr => z _; rewrite mulrA.
Qed.

Lemma weighted_person_admissible k_max p : admissible (weighted_person_shares k_max p).
Proof.
rewrite /admissible all_map /total big_map; apply/andP; split.
  rewrite (@eq_all _ _ predT) ?all_predT // => z /=.
  by rewrite mulr_ge0 ?invr_ge0 ?ler0n //; case/andP: (count01 z).
rewrite -mulr_sumr; apply: (@le_trans _ _ ((size (take k_max p))%:R^-1 * (size (take k_max p))%:R)).
  rewrite ler_wpmul2l ?invr_ge0 ?ler0n //; elim: (take _ _) => [|z q IH]; first by rewrite big_nil.
  by rewrite big_cons /= -add1n natrD ler_add //; case/andP: (count01 z).
by case: (size _) => [|k]; rewrite ?mulr0 ?ler01 // mulVf ?pnatr_eq0.
Qed.

Theorem N2_persons k_max : as_rows (weighted_person_loss k_max).
Proof. by rewrite weighted_person_lossE; apply: shared_slots; exact: weighted_person_admissible. Qed.

(* Page N2: F and F/C have the same minimisers. *)
Lemma minimiser_scaled (c : R) (f : V -> R) w : 0 < c ->
  minimiser C f w <-> minimiser C (fun x => f x / c) w.
Proof.
by move=> c0; split=> -[Cw h]; split=> // v /h; rewrite ler_pmul2r ?invr_gt0.
Qed.

End slots.
