/** Reasons of Events about what the operator did, beside the reasons of conditions. */

/** What one Event says. */
export interface EventReason {
  readonly type: 'Normal' | 'Warning'
  readonly meaning: string
}

/** Every further reason; names are none of a condition's. */
export const eventReasons = {
  ChangedByAdmission: {
    type: 'Warning',
    meaning:
      'What the operator applied has other values at the API server, since admission (a webhook, a policy) or a default of Kubernetes writes them; the note says which. They are left so: where they are not meant, change the webhook or the policy, or write them into the spec.',
  },
  DriftCorrected: {
    type: 'Warning',
    meaning:
      'Somebody had changed or deleted what belongs to the resource, and it was put back; the note says what: change the resource instead.',
  },
  FieldConflict: {
    type: 'Warning',
    meaning:
      'Fields that somebody else had written were taken back; the note says who wrote which: let them leave these fields alone.',
  },
  LeftToOperator: {
    type: 'Warning',
    meaning:
      'Two operators watch the namespace, and the one that wrote this leaves the resource to the other, which the note names; see Contested.',
  },
  PodRestarted: {
    type: 'Normal',
    meaning:
      'A pod was deleted, for Kubernetes to recreate it, because the file system of a larger volume grows when the pod is started (storage.restartToResize), or because the pod is older than its key in the keyring Secret; the note says which.',
  },
  PodsReplaced: {
    type: 'Normal',
    meaning:
      'Pods are replaced, one after the other, because their template changed, or because updatePartition, which held them back, was lowered; the note says which, and what changed.',
  },
  SecretGone: {
    type: 'Warning',
    meaning:
      'A Secret that the spec names was deleted, or lost the key, while the pods run on: Ready stays True and says how it is made; the next pod cannot start without it.',
  },
  SigningKeyChanged: {
    type: 'Warning',
    meaning:
      'A replica signs with another key than before, though its keys claim is the same; the note says both: where nobody gave it a new key directory, find out who replaced it. Hosts that name the Generator say SignersAgree SignerChanged.',
  },
  RegistrationAgain: {
    type: 'Normal',
    meaning:
      'The registration of a View is tried again, with the same transaction or with another one; the note says which, and why.',
  },
  StatefulSetRemoved: {
    type: 'Normal',
    meaning:
      'The StatefulSet was removed and its pods run on: it is recreated with larger volumes, or once the problem of a lost keys claim is solved.',
  },
  ViewRemainsOnChain: {
    type: 'Normal',
    meaning:
      'A View was deleted whose registration was sent: the Hosts of this namespace drop it, and the registry chain has it for good. The note has its ID.',
  },
} as const
