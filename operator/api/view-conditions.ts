/** The conditions of a View, with every reason. */

/** Part of the table in `conditions.ts`. */
export const viewConditions = {
  Validated: {
    meaning: 'The definition of the View can be read, and its lenses are there.',
    polarity: 'normal-true',
    kinds: ['View'],
    reasons: {
      Valid: {
        status: 'True',
        meaning:
          'Query, SDL and lenses are as they have to be; whether the lenses run, each Host finds out.',
        event: 'none',
      },
      NamedByID: {
        status: 'True',
        meaning: 'A registered View is named by spec.registryID, and the Hosts check it.',
        event: 'none',
      },
      InvalidDefinition: {
        status: 'False',
        meaning:
          'The query, the SDL or the arguments of a lens are not accepted; the message says where: create another View with what is accepted.',
      },
      LensMissing: {
        status: 'False',
        meaning:
          'A ConfigMap with the module of a lens does not exist, or lacks the key: create it as the message says. Hosts that have the View go on.',
      },
      LensMismatch: {
        status: 'False',
        meaning:
          'The module of a lens has another SHA-256 than the spec says: put the right module into the ConfigMap, or create another View with the hash of this one.',
      },
      TooLarge: {
        status: 'False',
        meaning:
          'The View is larger than the registry chain takes, so no Host takes it either: make its modules smaller, as the message says.',
      },
    },
  },
  Registered: {
    meaning: 'The registry chain has the View, where spec.registration wants that.',
    polarity: 'normal-true',
    kinds: ['View'],
    reasons: {
      Registered: {
        status: 'True',
        meaning: 'The registry chain has it, for good; status.registration says since which block.',
      },
      NotValidated: { status: 'False', meaning: 'See Validated.', event: 'none' },
      Preparing: {
        status: 'False',
        meaning: 'A Job asks the registry chain for nonce and fees; nothing is sent yet.',
        event: 'none',
      },
      Sending: {
        status: 'False',
        meaning:
          'A Job sends the transaction that status.registration has, and waits until the chain has the View.',
        event: 'none',
      },
      NoToolkit: {
        status: 'False',
        meaning:
          'The operator was given no image for the Jobs: set operands.toolkit, or global.imageRegistry, of its chart.',
      },
      SignerMissing: {
        status: 'False',
        meaning:
          'The Secret of signerSecretRef, or its key, does not exist: create it, as the message shows.',
      },
      SignerInvalid: {
        status: 'False',
        meaning:
          'The key of signerSecretRef is no private key: put one there, as 64 hex digits. This Job sent nothing.',
      },
      SignerChanged: {
        status: 'False',
        meaning:
          'The Secret holds another private key than the View was prepared with: put the first one back, or create another View.',
      },
      BalanceLow: {
        status: 'False',
        meaning:
          'The signer has too few coins: send some to the address in the message. This Job sent nothing.',
      },
      FeeHigh: {
        status: 'False',
        meaning:
          'It may cost more than registration.maxFee: see whether rpcUrl is right, or raise maxFee; viewmesh.io/reconcile-at has it prepared again where gas is cheaper by now. This Job sent nothing.',
      },
      WrongChain: {
        status: 'False',
        meaning:
          'The node of rpcUrl is on no known registry chain, or on another one than the View is signed for: correct rpcUrl, or name the chain in registration.chainId, for which it is then prepared again. This Job sent nothing.',
      },
      Unreachable: {
        status: 'False',
        meaning:
          'The node of rpcUrl does not answer as a registry chain does: correct rpcUrl, or see whether pods may reach it.',
      },
      Refused: {
        status: 'False',
        meaning:
          'The registry chain refused it, in words that the message repeats: remove the cause. The same transaction is tried again every ten minutes; viewmesh.io/reconcile-at has it prepared again at once, as another transaction.',
      },
      NonceTaken: {
        status: 'False',
        meaning:
          'Another transaction of the signer was in a block first, or replaced this one, which was registered by none: it is prepared again, three times by itself, and then where viewmesh.io/reconcile-at is set. Give each View a signer of its own, or add them one by one.',
      },
      NotMined: {
        status: 'False',
        meaning:
          'The transaction is in no block, or not acknowledged, in the time there is, and the same one is sent again every ten minutes: see at a node of the chain why, and to be rid of it use its nonce for another transaction of more fees.',
      },
      JobFailing: {
        status: 'False',
        meaning:
          'A Job cannot do its work, or ended without saying what it came to, for a cause such as its image, a quota or a deadline: do what the message says. A Job that waits then goes on by itself; one that ended is tried again ten minutes later, and at once where viewmesh.io/reconcile-at is set.',
      },
    },
  },
  Served: {
    meaning: 'Every replica of the selected Hosts serves the View.',
    polarity: 'normal-true',
    kinds: ['View'],
    reasons: {
      AllServe: { status: 'True', meaning: 'Every replica of the selected Hosts serves it.' },
      UnderAnotherName: {
        status: 'True',
        meaning:
          'It is served, and on some Host under another name than that of its type, which another View has there; status.hosts says which.',
      },
      NotValidated: { status: 'False', meaning: 'See Validated.', event: 'none' },
      NotPrepared: {
        status: 'False',
        meaning:
          'Hosts get the View once the address that registers it is known, since its ID follows from that; see Registered.',
        event: 'none',
      },
      NoHosts: {
        status: 'False',
        meaning:
          'No Host of this namespace matches hostSelector: give a Host the labels, or change the selector.',
      },
      NoReplicas: {
        status: 'False',
        meaning: 'Selected Hosts have no pods, since they are scaled to 0 or suspended.',
        event: 'none',
      },
      OtherChain: {
        status: 'False',
        meaning:
          'The query names a collection of another chain than a selected Host has: select Hosts of that chain.',
      },
      HostNeedsUpdate: {
        status: 'False',
        meaning:
          'The pods of a selected Host were made by an operator that knew no Views, and read none: set its annotation viewmesh.io/roll-at, as the message shows, which replaces them once.',
      },
      NoRoom: {
        status: 'False',
        meaning:
          'The ConfigMaps of a selected Host, eight of 900 kB, have no room for it: delete a View that nobody queries, or select another Host.',
      },
      Refused: {
        status: 'False',
        meaning:
          'A Host does not take the View; the message has its words, such as those of MAX_VIEWS: do what they say.',
      },
      Failing: {
        status: 'False',
        meaning:
          'The View fails on a replica, which goes on with its blocks, and has computed none of this View for ten seconds, or failed at some; the message names it with the reason: correct the lens in another View, or give it fewer blocks to read.',
      },
      NotFound: {
        status: 'False',
        meaning:
          'A selected Host does not know the View of registryID: see whether spec.registry of the Host names the registry chain it is on, and whether the ID is right.',
      },
      Pending: {
        status: 'False',
        meaning:
          'Replicas have not read the View yet, which takes up to a minute, or do not answer.',
        event: 'none',
      },
    },
  },
} as const
