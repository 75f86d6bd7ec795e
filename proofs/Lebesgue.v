(* Lebesgue measure on R^d, by induction on d from the library's on R: sigma-finite, and kept by translations. *)

From HB Require Import structures.
From mathcomp Require Import all_ssreflect ssralg ssrnum zmodp matrix interval.
From mathcomp.classical Require Import boolp classical_sets functions cardinality mathcomp_extra.
From mathcomp.analysis Require Import reals ereal topology normedtype realfun sequences signed esum.
From mathcomp.analysis Require Import measure lebesgue_measure numfun lebesgue_integral exp.
From Equipoise Require Import Arithmetic InnerProduct Vectors.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Import numFieldTopology.Exports.
Local Open Scope classical_set_scope.
Local Open Scope ring_scope.

Section line.
Variable R : realType.

(* R with the sigma-algebra on which the library defines its measure; the measurable sets are those of R. *)
Definition line := [the measurableType _ of salgebraType (@ocitv R)].
Definition length : {measure set line -> \bar R} := [the measure _ _ of @lebesgue_measure R].

Lemma measurable_line_shift (a : R) : measurable_fun setT (fun x : line => (x + a : line)).
Proof.
have h : measurable_fun setT (fun x : R => x + a).
  by apply: measurable_funD; [exact: measurable_fun_id|exact: measurable_fun_cst].
exact: h.
Qed.

Lemma length_shift (a : R) (E : set line) : measurable E -> length ((fun x : line => (x + a : line)) @^-1` E) = length E.
Proof.
move=> mE; have mf := measurable_line_shift a.
rewrite [RHS](@lebesgue_measure_unique R [the measure _ _ of pushforward length mf]) //.
move=> X /ocitvP[->|[[x y] /= xy ->]]; first by rewrite hlength0 measure0.
rewrite /= /pushforward.
have -> : (fun z : line => (z + a : line)) @^-1` `]x, y]%classic = `](x - a), (y - a)]%classic.
  by apply/seteqP; split=> z /=; rewrite !in_itv /= ltr_subl_addr ler_subr_addr.
rewrite [RHS]lebesgue_measure_itv !hlength_itv /= !lte_fin ltr_add2r.
by case: ifP => // _; rewrite -!EFinB; congr EFin; rewrite opprB addrA subrK.
Qed.

Lemma length_sigma_finite : sigma_finite setT length.
Proof.
have [F FT Fm] := @hlength_sigma_finite R; exists F => // i.
have [mFi Fi] := Fm i; split; first by apply: sub_sigma_algebra.
have [->|[[x y] /= xy ->]] := (@ocitvP R (F i)).1 mFi; first by rewrite measure0 ltry.
by rewrite /= lebesgue_measure_itv hlength_itv /=; case: ifP; rewrite -?EFinB ltry.
Qed.

End line.

Section space.
Variable R : realType.
Local Notation line := (line R).
Local Notation vectors := (vectors R).

(* R^(d+1) as R x R^d. *)
Definition prepend d (p : line * vectors d) : vectors d.+1 :=
  \row_i (if unlift ord0 i is Some j then (p.2 : 'rV[R]_d) 0 j else p.1).

Definition tail d (x : vectors d.+1) : vectors d := \row_j (x : 'rV[R]_d.+1) 0 (lift ord0 j).

Lemma measurable_prepend d : measurable_fun setT (@prepend d).
Proof.
have [mfst msnd] := (@prod_measurable_funP _ _ _ _ _ _ idfun).1
  (@measurable_fun_id _ [the measurableType _ of (line * vectors d)%type] setT).
apply: measurable_vector => i; under eq_fun do rewrite mxE.
case: unlift => [j|]; last exact: mfst.
exact: (measurable_fun_comp (@measurable_coordinate R d j) msnd).
Qed.

Lemma measurable_tail d : measurable_fun setT (@tail d).
Proof. by apply: measurable_vector => j; under eq_fun do rewrite mxE; exact: measurable_coordinate. Qed.

Lemma prepend_shift d p (w : 'rV[R]_d.+1) :
  (prepend p + w : vectors d.+1) = prepend (p.1 + w 0 0, (p.2 + tail w : vectors d)).
Proof.
apply/rowP => i; rewrite !mxE; case: unliftP => [j ->|->] //=.
by rewrite !mxE.
Qed.

(* One step of the induction: the product with the length of R. *)
Section step.
Variables (d : nat) (m : {measure set (vectors d) -> \bar R}) (sm : sigma_finite setT m).

Definition next : {measure set (vectors d.+1) -> \bar R} :=
  [the measure _ _ of pushforward [the measure _ _ of product_measure1 (length R) sm] (@measurable_prepend d)].

Lemma next_sigma_finite : sigma_finite setT next.
Proof.
have [F FT [increasingF Fm]] := sigma_finiteP (length_sigma_finite R).
have [G GT [increasingG Gm]] := sigma_finiteP sm.
pose H k : set (vectors d.+1) := (fun x : vectors d.+1 => (x : 'rV[R]_d.+1) 0 0) @^-1` F k `&` @tail d @^-1` G k.
have mH k : measurable (H k).
  apply: measurableI; rewrite -[_ @^-1` _]setTI; last by apply: measurable_tail => //; exact: (Gm k).1.
  by apply: measurable_coordinate => //; exact: (Fm k).1.
exists H => [|k].
  apply/esym; rewrite -subTset => x _.
  have : [set: line] ((x : 'rV[R]_d.+1) 0 0) by [].
  have : [set: vectors d] (tail x) by [].
  rewrite FT GT => -[j _ Gj] [i _ Fi]; exists (maxn i j) => //; split => /=.
    by have /subsetPset := increasingF _ _ (leq_maxl i j); apply.
  by have /subsetPset := increasingG _ _ (leq_maxr i j); apply.
split=> //; rewrite /= /pushforward.
have -> : @prepend d @^-1` H k = F k `*` G k.
  apply/seteqP; split=> -[a x] /=; rewrite /H /= mxE unlift_none /= (_ : tail _ = x) //;
    by apply/rowP => j; rewrite !mxE liftK.
rewrite product_measure1E; [|exact: (Fm k).1|exact: (Gm k).1].
by apply: lte_mul_pinfty => //; [rewrite ge0_fin_numE // (Fm k).2|exact: (Gm k).2].
Qed.

Lemma next_shift (w : 'rV[R]_d.+1) E :
  (forall (v : 'rV[R]_d) A, measurable A -> m ((fun x : vectors d => (x + v : vectors d)) @^-1` A) = m A) ->
  measurable E -> next ((fun x : vectors d.+1 => (x + w : vectors d.+1)) @^-1` E) = next E.
Proof.
move=> shift mE; rewrite /= /pushforward /product_measure1.
pose A := @prepend d @^-1` E.
have mA : measurable A by rewrite -[A]setTI; exact: measurable_prepend.
pose g a := m (xsection A a).
have mg : measurable_fun setT g by apply: measurable_fun_xsection => //; rewrite inE.
pose f (a : line) : line := a + w 0 0.
transitivity (\int[length R]_a (g \o f) a)%E.
  apply: eq_integral => a _ /=; rewrite /g -(shift (tail w)); last exact: measurable_xsection.
  congr (m _); apply/seteqP; split=> x; rewrite /xsection /= !inE /=.
    by rewrite prepend_shift.
  by rewrite prepend_shift.
rewrite -(integral_pushforward (measurable_line_shift (w 0 0))) //.
by apply: eq_measure_integral => B mB _; rewrite /= /pushforward; exact: length_shift.
Qed.

End step.

(* R^0 has one point. *)
Lemma point_sigma_finite : sigma_finite setT [the measure _ _ of @dirac _ (vectors 0) 0 R].
Proof.
exists (fun=> setT) => [|k]; first by rewrite bigcup_const //; exists 0%N.
by split=> //=; rewrite diracE ltry.
Qed.

Let measure_of d := {m : {measure set (vectors d) -> \bar R} | sigma_finite setT m}.

Fixpoint lebesgue_sig d : measure_of d :=
  match d return measure_of d with
  | 0%N => exist (fun m : {measure set (vectors 0) -> \bar R} => sigma_finite setT m) _ point_sigma_finite
  | d'.+1 => exist (fun m : {measure set (vectors d'.+1) -> \bar R} => sigma_finite setT m) _
      (next_sigma_finite (proj2_sig (lebesgue_sig d')))
  end.

Definition lebesgue d := proj1_sig (lebesgue_sig d).

Lemma lebesgue_sigma_finite d : sigma_finite setT (lebesgue d).
Proof. exact: (proj2_sig (lebesgue_sig d)). Qed.

Theorem lebesgue_translation d (w : 'rV[R]_d) E : measurable E ->
  lebesgue d ((fun x : vectors d => (x + w : vectors d)) @^-1` E) = lebesgue d E.
Proof.
elim: d w E => [|d IH] w E mE; last exact: next_shift.
by congr (lebesgue 0 _); apply/seteqP; split=> x /=; rewrite (_ : (x + w : vectors 0) = x) //; apply/rowP => -[].
Qed.

End space.
