/** The conditions about parts of a resource and its surroundings, with every reason. */

/** Part of the table in `conditions.ts`. */
export const partConditions = {
  IdentityReady: {
    meaning: 'Each replica has its keyring key, and it is the one its key directory was made with.',
    polarity: 'normal-true',
    kinds: ['Generator', 'Host'],
    reasons: {
      KeyringGenerated: {
        status: 'True',
        meaning:
          'The operator makes the keyring Secret, or found the one of an earlier resource of this name. Back it up.',
      },
      KeyringProvided: {
        status: 'True',
        meaning: 'The Secret of identity.secretRef has all keys.',
      },
      NotNeeded: {
        status: 'True',
        meaning:
          'No pods are wanted, and there is no key; those that are missing are made once pods are.',
        event: 'none',
      },
      KeyringPending: {
        status: 'False',
        meaning:
          'The keyring Secret, or the key of a replica in it, is not made yet; Ready says what keeps it, such as a quota.',
        event: 'none',
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
      DuplicateKey: { status: 'False', meaning: 'See Stalled.' },
      PeerIDChanged: {
        status: 'False',
        meaning:
          'A replica says another peer ID than before, though its keyring key is the same: see who replaced its keys or its image.',
      },
      KeyRunsTwice: {
        status: 'False',
        meaning:
          'A Generator stopped within the last half hour, because another program signs with its key (GENERATOR_KEY_RUNS_TWICE): stop the one that has a copy of its key directory.',
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
        meaning: 'A claim is not bound, or not there yet; the message says which.',
        event: 'none',
      },
      Expanding: { status: 'False', meaning: 'A volume is being made larger.', event: 'Normal' },
      FileSystemResizePending: {
        status: 'False',
        meaning:
          'A volume is larger, and its file system, which has not grown for three minutes, grows when the pod is next started: set storage.restartToResize to have the operator replace such pods, or the annotation viewmesh.io/roll-at to replace all pods now.',
        event: 'Normal',
      },
      ExpansionUnsupported: {
        status: 'False',
        meaning:
          'The StorageClass does not allow larger volumes: put back the size that status.storage shows, or allow it in the class.',
      },
      ExpansionFailed: {
        status: 'False',
        meaning:
          'The storage refused to make a volume larger, as the message repeats: free or add storage.',
      },
      NearlyFull: {
        status: 'False',
        meaning:
          'A volume of blocks has little room left, as its program says (STORE_NEARLY_FULL), which works on: make storage.data.size larger where the class allows it, or have pruning keep fewer blocks. Ready stays as it is.',
      },
    },
  },
  AddressPublished: {
    meaning: 'The address of each replica is published to peers.',
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
          'The external address cannot be discovered with this kind of Service: write it to p2p.announce (Generator) or services.p2p.announce (Host), or use LoadBalancer.',
      },
      PrivateAddress: {
        status: 'False',
        meaning:
          'A load balancer has an address that only private networks reach: ask for a public one by annotations of the Service, or write the external address to p2p.announce (Generator) or services.p2p.announce (Host).',
      },
      HostnameOnly: {
        status: 'False',
        meaning:
          'A load balancer has a name and no IP address. Peers reach it, registry dashboards ask for health by IP address: ask for fixed ones by annotations of the Service, and write those that it does not report to services.p2p.announce.',
      },
      HealthPortUnreachable: {
        status: 'False',
        meaning:
          'Three checks in a row from within the cluster found that /health on port 8080 of a load balancer is not that of its ready replica, so registry dashboards may show it offline: open that port. Where it is reachable from outside, write the address to services.p2p.announce, and it is checked no more.',
      },
    },
  },
  UpstreamReachable: {
    meaning: 'The execution node responds.',
    polarity: 'normal-true',
    kinds: ['Generator'],
    reasons: {
      WebSocket: { status: 'True', meaning: 'New blocks are reported over WebSocket.' },
      HttpOnly: {
        status: 'True',
        meaning: 'New blocks are polled for over HTTP, which is slightly slower.',
      },
      HeadStandsStill: {
        status: 'True',
        meaning:
          'The execution node responds, and has had no new block for a minute or more: see whether it is in sync and has its consensus client. A chain that rests looks the same.',
        event: 'none',
      },
      Unreachable: {
        status: 'False',
        meaning:
          'The execution node does not respond: check that it runs where spec.upstream says.',
      },
      Unauthorized: {
        status: 'False',
        meaning: 'The execution node refuses the API key: correct the Secret of upstream.auth.',
      },
      MethodMissing: {
        status: 'False',
        meaning:
          'The execution node does not have a method that is needed: correct spec.upstream, or switch on the eth methods of that node for HTTP and WebSocket.',
      },
      WrongChain: {
        status: 'False',
        meaning:
          'The execution node is on another chain than the stored blocks, or than spec.chain says by its names or its id: correct spec.upstream, or do what else the message says.',
      },
      Failing: { status: 'False', meaning: 'It cannot be used: do what the message says.' },
      Unobserved: { status: 'Unknown', meaning: 'No pod could be asked.', event: 'none' },
    },
  },
  StartIgnored: {
    meaning: 'The start of a Generator was changed, and has no effect on its store.',
    polarity: 'abnormal-true',
    kinds: ['Generator'],
    reasons: {
      StoreHasBlocks: {
        status: 'True',
        meaning:
          'A store with blocks goes on after them, wherever spec.start is: put the old start back, or delete the data claim to begin again with an empty store.',
        event: 'Warning',
      },
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
          'Every ready replica has a peer, but another one cannot be reached, is another than expected, or is of another chain, a replica has no peer but other replicas, or generators names one Generator twice: correct it.',
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
          'A Generator that generators names is in a namespace that this operator does not watch: add the namespace to scope.namespaces of its chart, or use bootstrapPeers.',
      },
      PeerIDMismatch: {
        status: 'False',
        meaning: 'Another peer than the expected one responds at an address: correct the address.',
      },
      PrefixMismatch: {
        status: 'False',
        meaning:
          'A replica has no peer but those of another chain, from which no block comes: correct generators or bootstrapPeers, or use a Host of that chain.',
      },
      NotConnected: {
        status: 'False',
        meaning:
          'No peer could be reached but other replicas: see to the Generators that the message says are not Ready, and whether peers run and port 9171 is open.',
      },
      Unobserved: { status: 'Unknown', meaning: 'No pod could be asked.', event: 'none' },
    },
  },
  SignersAgree: {
    meaning:
      'Heads of the accepted signers arrive, they agree on the chain, and every replica stores that one.',
    polarity: 'normal-true',
    kinds: ['Host'],
    reasons: {
      Agreed: { status: 'True', meaning: 'Heads of the accepted signers arrive, and they agree.' },
      SignerChanged: {
        status: 'False',
        meaning:
          'A Generator has another identity than the one that was accepted of it, which stays the one that counts: where it was given new keys on purpose, accept the other as the message says, else find out who runs in its place.',
      },
      ChainMismatch: {
        status: 'False',
        meaning:
          'A signer, or a Generator of generators, is on another chain of the same name (HOST_GENESIS_MISMATCH): decide which is right, and do what the message says.',
      },
      ReplicasDiffer: {
        status: 'False',
        meaning:
          'Replicas store different chains of one name, so the Service answers from both: have those on the wrong one fetch their blocks again, as the message says.',
      },
      ChainForked: {
        status: 'False',
        meaning:
          'Signers left more stored blocks behind than give way at once (HOST_FORK_DEEP), than they may decide without the others (HOST_FORK_TOO_DEEP), or all of them (HOST_SIGNER_BELOW): do what the message says.',
      },
      NoSigner: {
        status: 'False',
        meaning:
          'No signer is accepted, so no block is stored (HOST_NO_SIGNER): name Generators in generators or trustedSigners, or peers in bootstrapPeers that are Generators.',
      },
      SignersDisagree: {
        status: 'False',
        meaning:
          'The signers have stood on different branches for a minute, and nothing above the block they share is stored (HOST_SIGNERS_DISAGREE): see to the Generators of either side and to their nodes.',
      },
      KeyRunsTwice: {
        status: 'False',
        meaning:
          'Two programs sign with one key (HOST_SIGNER_TWICE), or two Generators that are named say one identity: stop one of them, and give it keys of its own.',
      },
      SignersFileUnusable: {
        status: 'False',
        meaning:
          'A replica cannot use the file of signers that the operator writes, and keeps the last one (HOST_SIGNERS_FILE_UNUSABLE): follow the message.',
      },
      SignerSilent: {
        status: 'False',
        meaning:
          'No head of a signer has arrived for a while (HOST_SIGNER_SILENT): check that its Generator runs, and remove it if it is gone for good.',
      },
      NothingStored: {
        status: 'False',
        meaning:
          'Heads of the signers go on, and a replica has stored nothing for a minute or more (HOST_STANDS_STILL): see what else the message says, and the log of the pod.',
      },
      TrustsAnyone: {
        status: 'False',
        meaning:
          'The Host is set to trust anyone (HOST_TRUST is anyone in podTemplate), which is for experiments: take that out.',
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
      GeneratorMissing: {
        status: 'False',
        meaning:
          'No Generator that generators names is seen, so the embedded schema is used: see PeersConnected.',
        event: 'none',
      },
      PrefixMismatch: {
        status: 'False',
        meaning:
          'The Generator is of another chain than the Host, so nothing of it fits: correct generators, or use a Host of that chain.',
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
          'The Generator refuses the key, and the embedded schema is used: wait two minutes where the key was just changed, and if it stays so, set its annotation viewmesh.io/roll-at.',
      },
      Unreachable: {
        status: 'False',
        meaning:
          'The Generator’s schema endpoint does not respond, and the embedded schema is used: check that the Generator runs.',
      },
      Unreadable: {
        status: 'False',
        meaning:
          'The Generator’s response is not a schema, and the embedded one is used: run one version of Generator and Host.',
      },
      Unobserved: { status: 'Unknown', meaning: 'No pod could be asked.', event: 'none' },
    },
  },
} as const
