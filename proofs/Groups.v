(* Pages N1 and N2: all rows of a person, and classes with public weights. What counts in one slot is a combination of
   rows with non-negative shares that add up to at most 1; its gradients lie in the hull of the rows' gradients and 0. *)

From mathcomp Require Import all_ssreflect ssralg ssrnum.
From mathcomp.classical Require Import boolp classical_sets.
From mathcomp.analysis Require Import reals.
From Equipoise Require Import Arithmetic InnerProduct Minimisers.

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

(* What stands in a slot is of any type P, and counts as the group `shares p` of rows. *)
Theorem shared_slots (P : Type) (shares : P -> seq (R * Z)) (penalty : V -> R) (C D : V -> Prop)
    n (S S' : 'I_n -> P) (Gam mu : R) w w' :
  (forall p, admissible (shares p)) ->
  neighbours S S' -> 0 < mu -> convex_set C ->
  (forall z, convex ip C (loss z)) -> strongly_convex ip mu C penalty ->
  (forall z, slopes ip (G z) (loss z)) ->
  (forall x z z' s s', D x -> G z x s -> G z' x s' -> norm (s - s') <= Gam) ->
  (forall x, D x -> exists z, G z x 0) ->
  let F := objective (fun p => group_loss (shares p)) penalty in
  (forall (S : 'I_n -> P) x, minimiser C (F n S) x -> D x) ->
  minimiser C (F n S) w -> minimiser C (F n S') w' -> norm (w - w') <= Gam / (n%:R * mu).
Proof.
move=> adm adj mu0 convexC convexl convexr slope diameter origin F inD minw minw'.
have shares0 p : all (fun c : R * Z => 0 <= c.1) (shares p) by case/andP: (adm p).
apply: (A2 (C := C) (loss := fun p => group_loss (shares p)) (penalty := penalty)
  (G := fun p => group_slopes (shares p)) (D := D) adj mu0) => //.
- by apply: objective_convex => // p; exact: group_convex.
- by move=> p; exact: group_has_slopes.
- move=> x p p' s s' Dx; apply: group_diameter => // [|]; last exact: origin.
  by move=> z z' t t'; exact: diameter.
Qed.

End groups.

Section persons.
Variables (R : realType) (V : lmodType R) (ip : inner_product V).
Variables (Z : Type) (loss : Z -> V -> R) (G : Z -> V -> V -> Prop) (penalty : V -> R) (C D : V -> Prop).
Add Field reals' : (real_field R).
Local Notation norm := (norm ip).

(* What the pages ask of rows, penalty and constraint; D is where minimisers lie. *)
Definition rows_as_in_A2 (Gam mu : R) := [/\ convex_set C, forall z, convex ip C (loss z),
  strongly_convex ip mu C penalty, forall z, slopes ip (G z) (loss z) &
  forall x z z' s s', D x -> G z x s -> G z' x s' -> norm (s - s') <= Gam].

(* Page N1: a person is the list of their rows, the empty list an empty slot; the first k_max count. *)
Definition person_loss (k_max : nat) (p : seq Z) w : R :=
  (size (take k_max p))%:R^-1 * \sum_(z <- take k_max p) loss z w.

Theorem N1 k_max n (S S' : 'I_n -> seq Z) (Gam mu : R) w w' :
  neighbours S S' -> 0 < mu -> rows_as_in_A2 Gam mu -> (forall x, D x -> exists z, G z x 0) ->
  let F := objective (person_loss k_max) penalty in
  (forall (S : 'I_n -> seq Z) x, minimiser C (F n S) x -> D x) ->
  minimiser C (F n S) w -> minimiser C (F n S') w' -> norm (w - w') <= Gam / (n%:R * mu).
Proof.
move=> adj mu0 [convexC convexl convexr slope diameter] origin.
pose shares (p : seq Z) : seq (R * Z) := [seq ((size (take k_max p))%:R^-1, z) | z <- take k_max p].
have -> : person_loss k_max = fun p => group_loss loss (shares p).
  by apply/funext => p; apply/funext => x; rewrite /group_loss big_map /person_loss mulr_sumr.
apply: shared_slots adj mu0 convexC convexl convexr slope diameter origin => p.
rewrite /admissible all_map /total big_map; apply/andP; split.
  by rewrite (@eq_all _ _ predT) ?all_predT // => z /=; rewrite invr_ge0 ler0n.
rewrite big_const_seq count_predT iter_addr_0 -[_ *+ size _]mulr_natl.
by case: (size _) => [|k]; rewrite ?mul0r ?ler01 // divff ?pnatr_eq0.
Qed.

(* Page N2: the row z counts for count z, at most 1. *)
Theorem N2 (count : Z -> R) n (S S' : 'I_n -> Z) (Gam mu : R) w w' : (forall z, 0 <= count z <= 1) ->
  neighbours S S' -> 0 < mu -> rows_as_in_A2 Gam mu -> (forall x, D x -> exists z, G z x 0) ->
  let F := objective (fun z x => count z * loss z x) penalty in
  (forall (S : 'I_n -> Z) x, minimiser C (F n S) x -> D x) ->
  minimiser C (F n S) w -> minimiser C (F n S') w' -> norm (w - w') <= Gam / (n%:R * mu).
Proof.
move=> count01 adj mu0 [convexC convexl convexr slope diameter] origin.
pose shares z : seq (R * Z) := [:: (count z, z)].
have -> : (fun z x => count z * loss z x) = fun p => group_loss loss (shares p).
  by apply/funext => z; apply/funext => x; rewrite /group_loss big_seq1.
apply: shared_slots adj mu0 convexC convexl convexr slope diameter origin => z.
by rewrite /admissible /total big_seq1 /= andbT.
Qed.

(* Page N2, part 2: both. *)
Definition weighted_person_loss (count : Z -> R) (k_max : nat) (p : seq Z) w : R :=
  (size (take k_max p))%:R^-1 * \sum_(z <- take k_max p) count z * loss z w.

Theorem N2_persons (count : Z -> R) k_max n (S S' : 'I_n -> seq Z) (Gam mu : R) w w' :
  (forall z, 0 <= count z <= 1) ->
  neighbours S S' -> 0 < mu -> rows_as_in_A2 Gam mu -> (forall x, D x -> exists z, G z x 0) ->
  let F := objective (weighted_person_loss count k_max) penalty in
  (forall (S : 'I_n -> seq Z) x, minimiser C (F n S) x -> D x) ->
  minimiser C (F n S) w -> minimiser C (F n S') w' -> norm (w - w') <= Gam / (n%:R * mu).
Proof.
move=> count01 adj mu0 [convexC convexl convexr slope diameter] origin.
pose shares (p : seq Z) : seq (R * Z) :=
  [seq ((size (take k_max p))%:R^-1 * count z, z) | z <- take k_max p].
have -> : weighted_person_loss count k_max = fun p => group_loss loss (shares p).
  apply/funext => p; apply/funext => x; rewrite /group_loss big_map /weighted_person_loss mulr_sumr.
  by apply: eq_bigr => z _; rewrite mulrA.
apply: shared_slots adj mu0 convexC convexl convexr slope diameter origin => p.
rewrite /admissible all_map /total big_map; apply/andP; split.
  rewrite (@eq_all _ _ predT) ?all_predT // => z /=.
  by rewrite mulr_ge0 ?invr_ge0 ?ler0n //; case/andP: (count01 z).
rewrite -mulr_sumr; apply: (@le_trans _ _ ((size (take k_max p))%:R^-1 * (size (take k_max p))%:R)).
  rewrite ler_wpmul2l ?invr_ge0 ?ler0n //; elim: (take _ _) => [|z q IH]; first by rewrite big_nil.
  by rewrite big_cons /= -add1n natrD ler_add //; case/andP: (count01 z).
by case: (size _) => [|k]; rewrite ?mulr0 ?ler01 // mulVf ?pnatr_eq0.
Qed.

(* Page N2: F and F/C have the same minimisers. *)
Lemma minimiser_scaled (c : R) (f : V -> R) w : 0 < c ->
  minimiser C f w <-> minimiser C (fun x => f x / c) w.
Proof.
by move=> c0; split=> -[Cw h]; split=> // v /h; rewrite ler_pmul2r ?invr_gt0.
Qed.

End persons.
