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
          'The View fails on a replica, which goes on with its blocks; the message names it with the reason: correct the lens in another View, or give it fewer blocks to read.',
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
