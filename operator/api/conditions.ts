/**
 * The conditions in `status.conditions` and every reason they can have: one table that the
 * reconciler, the Events and the documentation share. The reason of an Event is the reason of the
 * condition it is about.
 *
 * Polarity. `normal-true`: True is good, and the condition is always there. `abnormal-true`: only
 * there while True, and then something wants attention. `information`: there when it applies;
 * neither value is bad.
 */

/** What True means for whoever looks at it. */
export type Polarity = 'normal-true' | 'abnormal-true' | 'information'

/** What one reason says. */
export interface Reason {
  /** Status of the condition when it has this reason. */
  readonly status: 'True' | 'False' | 'Unknown'
  /** What it means, and where a person has to act, what to do. */
  readonly meaning: string
  /**
   * How an Event tells that a condition came to this reason, where the polarity does not say it: steps
   * that pass by themselves are no warnings, and the smallest are not told.
   */
  readonly event?: 'none' | 'Normal' | 'Warning'
}

/** What one condition says. */
export interface ConditionDefinition {
  readonly meaning: string
  readonly polarity: Polarity
  readonly kinds: readonly ('Generator' | 'Host')[]
  readonly reasons: Readonly<Record<string, Reason>>
}

/** Every condition with every reason. Order is the order in `status.conditions`. */
export const conditions = {
  Ready: {
    meaning:
      'The pods run as the spec wants, with their identity and storage. The one to wait for; what observers of /health see is in the other conditions.',
    polarity: 'normal-true',
    kinds: ['Generator', 'Host'],
    reasons: {
      AllReady: { status: 'True', meaning: 'Every wanted pod is ready.' },
      ScaledToZero: { status: 'True', meaning: 'No pods are wanted; keys and data are kept.' },
      Pending: {
        status: 'False',
        meaning: 'The resource has not been looked at to the end yet.',
        event: 'none',
      },
      Initializing: {
        status: 'False',
        meaning: 'Pods run, but /health does not answer 200 yet.',
        event: 'none',
      },
      RollingOut: {
        status: 'False',
        meaning: 'Pods are being replaced, one after the other.',
        event: 'Normal',
      },
      PodsFailing: {
        status: 'False',
        meaning: 'A pod crashes or cannot get its image: do what the message says.',
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
      IdentityNotReady: { status: 'False', meaning: 'See IdentityReady.', event: 'none' },
      Stalled: {
        status: 'False',
        meaning: 'Nothing goes on until a person acts; see Stalled.',
        event: 'none',
      },
    },
  },
  Reconciling: {
    meaning: 'The operator is bringing the cluster to what the spec says.',
    polarity: 'abnormal-true',
    kinds: ['Generator', 'Host'],
    reasons: {
      Progressing: { status: 'True', meaning: 'Changes are on their way.', event: 'none' },
      ProgressingWithRetry: {
        status: 'True',
        meaning:
          'A step failed and is tried again; the message says which and why: act only if it stays.',
        event: 'Warning',
      },
      WaitingForRollout: { status: 'True', meaning: 'The StatefulSet is replacing pods.' },
      ExpandingStorage: { status: 'True', meaning: 'Volumes are being made larger.' },
    },
  },
  Stalled: {
    meaning: 'The operator stopped, touched no pod, and goes on when a person has acted.',
    polarity: 'abnormal-true',
    kinds: ['Generator', 'Host'],
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
          'A replica already had an identity, but the keyring Secret or its key is gone: restore the named Secret, or delete the named claim and the resource to begin with a new identity.',
      },
      KeysClaimMissing: {
        status: 'True',
        meaning:
          'The keys claim of a replica that already had an identity is gone, and no replica is started again until that is mended, so that none begins with an empty claim: restore it from your backup, or delete the resource to begin with a new identity when it is created again.',
      },
      DuplicateKey: {
        status: 'True',
        meaning:
          'Two replicas have the same keyring key, and would have one peer ID: give one of them another key, as the message says.',
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
          'The API server does not let the operator do something; the message says what: extend its role.',
      },
      QuotaExceeded: {
        status: 'True',
        meaning: 'A ResourceQuota of the namespace leaves no room: raise it or free something.',
      },
    },
  },
  IdentityReady: {
    meaning: 'Each replica has its keyring key, and it is the one its key directory was made with.',
    polarity: 'normal-true',
    kinds: ['Generator', 'Host'],
    reasons: {
      KeyringGenerated: {
        status: 'True',
        meaning: 'The operator made the keyring Secret. Back it up.',
      },
      KeyringProvided: {
        status: 'True',
        meaning: 'The Secret of identity.secretRef has all keys.',
      },
      SecretMissing: {
        status: 'False',
        meaning: 'The Secret of identity.secretRef does not exist: create it.',
      },
      KeyMissing: {
        status: 'False',
        meaning: 'The Secret of identity.secretRef lacks the key of a replica: add it.',
      },
      IdentityConflict: { status: 'False', meaning: 'See Stalled.' },
      KeyringMissing: { status: 'False', meaning: 'See Stalled.' },
      KeysClaimMissing: { status: 'False', meaning: 'See Stalled.' },
      DuplicateKey: { status: 'False', meaning: 'See Stalled.', event: 'none' },
      PeerIDChanged: {
        status: 'False',
        meaning:
          'A replica says another peer ID than before, though its keyring key is the same: see who replaced its keys or its image.',
      },
    },
  },
  StorageReady: {
    meaning: 'The volumes are there, in the size that is asked for.',
    polarity: 'normal-true',
    kinds: ['Generator', 'Host'],
    reasons: {
      Bound: { status: 'True', meaning: 'All claims are bound.' },
      NotNeeded: {
        status: 'True',
        meaning: 'No pods are wanted, so no volumes are.',
        event: 'none',
      },
      Pending: {
        status: 'False',
        meaning: 'A claim is not bound; the message says which.',
        event: 'none',
      },
      Expanding: { status: 'False', meaning: 'A volume is being made larger.', event: 'Normal' },
      FileSystemResizePending: {
        status: 'False',
        meaning:
          'A volume is larger, its file system grows when the pod is next started: set the annotation viewmesh.io/roll-at to replace the pods now.',
        event: 'Normal',
      },
      ExpansionUnsupported: {
        status: 'False',
        meaning:
          'The StorageClass does not allow larger volumes: put back the size that status.storage tells, or allow it in the class.',
      },
      ExpansionFailed: {
        status: 'False',
        meaning:
          'The storage refused to make a volume larger, as the message repeats: free or add storage.',
      },
    },
  },
  AddressPublished: {
    meaning: 'Peers are told where each replica is reached.',
    polarity: 'normal-true',
    kinds: ['Generator', 'Host'],
    reasons: {
      InCluster: {
        status: 'True',
        meaning: 'Reached from within the cluster only, as the spec asks.',
        event: 'none',
      },
      LoadBalancer: { status: 'True', meaning: 'The addresses are those of load balancers.' },
      HostNetwork: { status: 'True', meaning: 'The addresses are those of the machines.' },
      Manual: { status: 'True', meaning: 'The addresses are those of the spec.' },
      NotNeeded: {
        status: 'True',
        meaning: 'No pods are wanted, so no addresses are.',
        event: 'none',
      },
      Pending: {
        status: 'False',
        meaning: 'A load balancer has no address yet, or a pod no machine.',
        event: 'none',
      },
      AddressUnknown: {
        status: 'False',
        meaning:
          'The outside address cannot be learnt with this kind of Service: write it to p2p.announce (Generator), or use LoadBalancer.',
      },
      PrivateAddress: {
        status: 'False',
        meaning:
          'A load balancer has an address that only private networks reach: ask for a public one by annotations of the Service, or write the outside address to p2p.announce (Generator).',
      },
    },
  },
  UpstreamReachable: {
    meaning: 'The execution node answers.',
    polarity: 'normal-true',
    kinds: ['Generator'],
    reasons: {
      WebSocket: { status: 'True', meaning: 'New blocks are told over WebSocket.' },
      HttpOnly: {
        status: 'True',
        meaning: 'New blocks are polled for over HTTP, which is slightly slower.',
      },
      Unreachable: {
        status: 'False',
        meaning:
          'The execution node does not answer: see whether it runs where spec.upstream says.',
      },
      Unauthorized: {
        status: 'False',
        meaning: 'The execution node refuses the API key: correct the Secret of upstream.auth.',
      },
      WrongChain: {
        status: 'False',
        meaning:
          'The execution node is on another chain than the stored blocks: correct spec.upstream, or let go of these blocks.',
      },
      Failing: { status: 'False', meaning: 'It cannot be used: do what the message says.' },
      Unobserved: { status: 'Unknown', meaning: 'No pod could be asked.', event: 'none' },
    },
  },
  PeersConnected: {
    meaning: 'Every ready replica has a peer.',
    polarity: 'normal-true',
    kinds: ['Host'],
    reasons: {
      Connected: { status: 'True', meaning: 'Every ready replica has a peer.' },
      ConnectedInPart: {
        status: 'True',
        meaning:
          'Every ready replica has a peer, but another one than expected answers at an address: correct it.',
      },
      NoPeersConfigured: {
        status: 'False',
        meaning: 'Neither generators nor bootstrapPeers name a peer: add one.',
      },
      GeneratorMissing: {
        status: 'False',
        meaning:
          'A Generator that generators names does not exist, or not yet: create it, or correct generators.',
      },
      GeneratorNotWatched: {
        status: 'False',
        meaning:
          'A Generator that generators names is in a namespace that this operator does not look after: add the namespace to scope.namespaces of its chart, or use bootstrapPeers.',
      },
      PeerIDMismatch: {
        status: 'False',
        meaning: 'Another peer than the expected one answers at an address: correct the address.',
      },
      NotConnected: {
        status: 'False',
        meaning: 'No peer could be reached: see whether they run and port 9171 is open.',
      },
      Unobserved: { status: 'Unknown', meaning: 'No pod could be asked.', event: 'none' },
    },
  },
  SchemaInSync: {
    meaning: 'The Host’s schema is that of its Generator.',
    polarity: 'normal-true',
    kinds: ['Host'],
    reasons: {
      Matched: { status: 'True', meaning: 'Both schemas are equal.' },
      Embedded: {
        status: 'True',
        meaning: 'No Generator is named; the embedded schema is used.',
        event: 'none',
      },
      Different: {
        status: 'False',
        meaning: 'The schemas differ: run one version of Generator and Host.',
      },
      NotAllowed: {
        status: 'False',
        meaning:
          'No Generator lets this namespace have a schema key: add it to schemaAuth.allowedNamespaces there.',
      },
      Unauthorized: {
        status: 'False',
        meaning:
          'The Generator refuses the key, and the embedded schema is used: where the Secret of its keys was changed since it started, set its annotation viewmesh.io/roll-at.',
      },
      Unreachable: {
        status: 'False',
        meaning:
          'The Generator’s schema does not answer, and the embedded one is used: see whether the Generator runs.',
      },
      Unobserved: { status: 'Unknown', meaning: 'No pod could be asked.', event: 'none' },
    },
  },
  UpdateAvailable: {
    meaning: 'This operator would build the pods differently, and waits with it.',
    polarity: 'information',
    kinds: ['Generator', 'Host'],
    reasons: {
      NewTemplate: {
        status: 'True',
        meaning:
          'Change the spec, or set the annotation viewmesh.io/roll-at, to take the new template; rollout: Auto would not have waited.',
      },
      UpToDate: {
        status: 'False',
        meaning: 'The pods have the template of this operator.',
        event: 'none',
      },
    },
  },
  Paused: {
    meaning: 'Nothing is written for the resource, because spec.paused is true.',
    polarity: 'information',
    kinds: ['Generator', 'Host'],
    reasons: {
      ChangesWaiting: { status: 'True', meaning: 'Changes wait; the message says which.' },
      NothingWaiting: {
        status: 'True',
        meaning: 'The cluster is as the spec wants it.',
        event: 'none',
      },
    },
  },
} as const

/** Name of a condition. */
export type ConditionType = keyof typeof conditions

/** Reasons that a condition can have. */
export type ReasonOf<T extends ConditionType> = keyof (typeof conditions)[T]['reasons'] & string
