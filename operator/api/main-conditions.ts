/** The conditions that tools wait for, with every reason: what comes of the whole resource. */

/** Part of the table in `conditions.ts`. */
export const mainConditions = {
  Ready: {
    meaning:
      'The pods run as the spec wants, with their identity and storage, or a View is served by every replica of the Hosts it selects. The one to wait for; what observers of /health see is in the other conditions.',
    polarity: 'normal-true',
    kinds: ['Generator', 'Host', 'View'],
    reasons: {
      AllReady: { status: 'True', meaning: 'Every wanted pod is ready.' },
      ViewServed: {
        status: 'True',
        meaning:
          'Every replica of the Hosts that a View selects serves it, and where spec.registration wants it, it is registered.',
      },
      ScaledToZero: { status: 'True', meaning: 'No pods are wanted; keys and data are kept.' },
      Suspended: {
        status: 'True',
        meaning: 'No pods run, since spec.suspend is true; keys, data and addresses are kept.',
      },
      Pending: {
        status: 'False',
        meaning:
          'The resource has not been fully reconciled yet, or a new Host waits for the schema key of its Generator, half a minute at most.',
        event: 'none',
      },
      Initializing: {
        status: 'False',
        meaning:
          'Pods run, but are not ready yet: a program starts, or a Host’s /ready says what data it lacks.',
        event: 'none',
      },
      RollingOut: {
        status: 'False',
        meaning: 'Pods are being replaced, one after the other; the Event PodsReplaced says why.',
        event: 'none',
      },
      PodsFailing: {
        status: 'False',
        meaning: 'A pod crashes or cannot get its image: do what the message says.',
      },
      FailedCreate: {
        status: 'False',
        meaning:
          'Kubernetes refuses to make a pod or its claim, in words that the message repeats, such as those of a quota: mend that. It is tried again twice a minute.',
      },
      Unschedulable: {
        status: 'False',
        meaning:
          'A pod fits on no machine, as the scheduler says: make room, or change podTemplate.',
      },
      WaitingForStorage: {
        status: 'False',
        meaning: 'A volume is not bound, or not of the size that is wanted; see StorageReady.',
        event: 'none',
      },
      WaitingForUpstream: {
        status: 'False',
        meaning:
          'The Service of the execution node does not exist (for pods of a podSelector nobody waits): create it, or correct spec.upstream.',
      },
      ExecutionNodeUnknown: {
        status: 'False',
        meaning:
          'The Generator is required to run beside its execution node, and nobody says which pods that is: the message says what to change.',
      },
      SecretMissing: {
        status: 'False',
        meaning:
          'A Secret that the spec names does not exist, or lacks the key: create it as the message says. Pods that run are left as they are meanwhile.',
      },
      Paused: {
        status: 'False',
        meaning:
          'The pods are ready but not as the spec wants, or not made at all, since changes wait; see Paused.',
        event: 'none',
      },
      Unread: {
        status: 'Unknown',
        meaning:
          'The API server has not shown for a minute what is there, so nothing is known of the pods since; everything else in the status is as it was seen last. Reconciling says why. It passes once the API server answers.',
        event: 'none',
      },
      NotValidated: { status: 'False', meaning: 'See Validated.', event: 'none' },
      NotServed: { status: 'False', meaning: 'See Served.', event: 'none' },
      NotRegistered: { status: 'False', meaning: 'See Registered.', event: 'none' },
      IdentityNotReady: { status: 'False', meaning: 'See IdentityReady.', event: 'none' },
      Stalled: {
        status: 'False',
        meaning: 'Reconciliation waits until a person acts; see Stalled.',
        event: 'none',
      },
    },
  },
  Reconciling: {
    meaning: 'The operator is bringing the cluster to what the spec says.',
    polarity: 'abnormal-true',
    kinds: ['Generator', 'Host', 'View'],
    reasons: {
      Progressing: { status: 'True', meaning: 'Changes are on their way.', event: 'none' },
      ProgressingWithRetry: {
        status: 'True',
        meaning:
          'A step failed and is tried again; the message says which and why: act only if it stays.',
        event: 'Warning',
      },
      WaitingForRollout: {
        status: 'True',
        meaning: 'The StatefulSet is replacing pods.',
        event: 'none',
      },
      ExpandingStorage: {
        status: 'True',
        meaning: 'Volumes are being made larger; see StorageReady.',
        event: 'none',
      },
    },
  },
  Stalled: {
    meaning: 'The operator stopped, changed no pod, and continues when a person has acted.',
    polarity: 'abnormal-true',
    kinds: ['Generator', 'Host', 'View'],
    reasons: {
      InvalidSpec: {
        status: 'True',
        meaning: 'Kubernetes refuses what the spec asks for, mostly in podTemplate: correct it.',
      },
      IdentityConflict: {
        status: 'True',
        meaning:
          'A keyring key is not the one with which a key directory opens: put the original value back into the named Secret, from your backup.',
      },
      KeyringMissing: {
        status: 'True',
        meaning:
          'A replica had an identity, or may have had one, but the keyring Secret or its key is gone: restore the named Secret, or delete what the message names to begin with a new identity.',
      },
      KeysClaimMissing: {
        status: 'True',
        meaning:
          'The keys claim of a replica that already had an identity is gone, and no replica is started again until that is mended, so that none begins with an empty claim: keep its volume as the message says while the claim is only being deleted, or restore it from your backup; or, with identity.deletionPolicy Retain, delete the resource to begin with new keys, under the same peer ID, when it is created again.',
      },
      DuplicateKey: {
        status: 'True',
        meaning:
          'Two replicas have the same keyring key, and would have one peer ID: give one of them another key, as the message says. A resource of another namespace is named in the log of the operator only.',
      },
      ChainMismatch: {
        status: 'True',
        meaning:
          'The named claim holds another chain: delete the claim, or create the resource under another name.',
      },
      ImmutableFieldChange: {
        status: 'True',
        meaning: 'A field was changed that Kubernetes lets nobody change: put it back.',
      },
      NameTaken: {
        status: 'True',
        meaning:
          'An object of a needed name exists and belongs to something else: delete or rename one of the two.',
      },
      Forbidden: {
        status: 'True',
        meaning:
          'The API server does not let the operator do something: extend its role, or do what the message says where a policy of the cluster refuses it.',
      },
      QuotaExceeded: {
        status: 'True',
        meaning: 'A ResourceQuota of the namespace leaves no room: raise it or free something.',
      },
    },
  },
} as const
