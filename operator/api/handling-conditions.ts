/** The conditions about how the operator handles a resource: what waits, and what it was told to leave or stop. */

/** Part of the table in `conditions.ts`. */
export const handlingConditions = {
  UpdateAvailable: {
    meaning: 'This operator would build the pods differently, and waits with it.',
    polarity: 'information',
    kinds: ['Generator', 'Host'],
    reasons: {
      NewTemplate: {
        status: 'True',
        meaning:
          'The message names the fields that differ. Change the spec, or set the annotation viewmesh.io/roll-at, to take the new template; rollout: Auto would not have waited.',
      },
      UpToDate: {
        status: 'False',
        meaning: 'The pods have the template of this operator.',
        event: 'none',
      },
    },
  },
  Contested: {
    meaning: 'Another operator manages the resource as well.',
    polarity: 'abnormal-true',
    kinds: ['Generator', 'Host', 'View'],
    reasons: {
      OperatorsOverlap: {
        status: 'True',
        meaning:
          'Two operators watch the namespace, of which the one that status.managedBy names goes on, though one of an earlier version may undo what it writes: uninstall one of the two, or have them watch different namespaces (scope of the chart).',
        event: 'Warning',
      },
    },
  },
  Suspended: {
    meaning: 'Whether the pods are gone, where spec.suspend is true.',
    polarity: 'information',
    kinds: ['Generator', 'Host'],
    reasons: {
      PodsGone: {
        status: 'True',
        meaning:
          'No pod runs. Claims, keys, Services and their addresses are kept; set spec.suspend to false to go on.',
        event: 'none',
      },
      PodsRunning: {
        status: 'False',
        meaning:
          'Pods are being stopped, or go on while the resource is paused or stalled; the message says which.',
        event: 'none',
      },
    },
  },
  Paused: {
    meaning: 'Nothing is written for the resource, because spec.paused is true.',
    polarity: 'information',
    kinds: ['Generator', 'Host', 'View'],
    reasons: {
      ChangesWaiting: { status: 'True', meaning: 'Changes wait; the message says which.' },
      NothingWaiting: {
        status: 'True',
        meaning: 'Nothing would be written if it were resumed.',
        event: 'none',
      },
    },
  },
} as const
