/** Annotations and labels of ours: on resources, where people set them, and on what the operator makes. */

/** Annotations that people set on a Generator or Host. */
export const requests = {
  /** Any new value replaces the pods once, with the template of the operator that runs now. */
  rollAt: 'viewmesh.io/roll-at',
  /** Any new value has the resource reconciled now; `status.lastHandledReconcileAt` repeats it. */
  reconcileAt: 'viewmesh.io/reconcile-at',
  /** On a Host: identities, separated by commas, that Generators which changed theirs may have from now on. */
  acceptSigners: 'viewmesh.io/accept-signers',
} as const

/** Annotations that people set on what is theirs, for the sake of Generators and Hosts elsewhere. */
export const consents = {
  /**
   * On the Service of an execution node: namespaces, separated by commas, whose Generators may know which pods it
   * selects. Those of its own namespace always may.
   */
  allowedNamespaces: 'viewmesh.io/allowed-namespaces',
} as const

/** Annotations that the operator sets on what it makes. */
export const records = {
  /** On a StatefulSet: hash of what its pod template was built from. */
  templateInputs: 'viewmesh.io/template-inputs',
  /** On a StatefulSet: the pod template as it was applied, in JSON. */
  podTemplate: 'viewmesh.io/pod-template',
  /**
   * On a StatefulSet: what was discovered in the cluster and went into its pod template, in JSON.
   * Under an older name, since StatefulSets in clusters carry it.
   */
  discovered: 'viewmesh.io/learnt',
  /** On a Secret with schema keys and on pods: when it was renewed with another key than before. */
  schemaKeysRenewed: 'viewmesh.io/schema-keys-renewed',
  /** On a Generator's connection Secret: since when its newest schema key waits to be handed out; empty for none. */
  schemaKeyWaits: 'viewmesh.io/schema-key-waits',
  /** On a pod: hash of the ConfigMap that it was last triggered to sync. */
  configMap: 'viewmesh.io/config-map',
  /** On everything that is applied: hash of what was applied, which distinguishes a changed spec from drift. */
  applied: 'viewmesh.io/applied',
  /** On a StatefulSet that cannot make a pod: when its controller was last asked to try again. */
  nudgedAt: 'viewmesh.io/nudged-at',
  /**
   * On an object of which somebody changed keys of list items: those that are to be removed, in JSON.
   * Under an older name, since objects in clusters carry it.
   */
  unmanagedItems: 'viewmesh.io/strangers',
  /** On a `keys` claim: fingerprint of the keyring key with which its key directory opens. */
  keyringFingerprint: 'viewmesh.io/keyring-fingerprint',
  /** On a Generator's `data` claim with blocks: the start that held when they were first seen. */
  start: 'viewmesh.io/start',
  /** On a claim: the network it was made for, such as Ethereum__Mainnet. */
  network: 'viewmesh.io/network',
} as const

/** Labels; the first two are the whole selector. */
export const labels = {
  /** `generator`, `host` or `view`. */
  name: 'app.kubernetes.io/name',
  /** Name of the Generator, Host or View. */
  instance: 'app.kubernetes.io/instance',
  partOf: 'app.kubernetes.io/part-of',
  managedBy: 'app.kubernetes.io/managed-by',
  /** Number of a pod; StatefulSets set it. */
  podIndex: 'apps.kubernetes.io/pod-index',
  /** `keyring` on Secrets and `keys` or `data` on claims, to list what has to be backed up. */
  holds: 'viewmesh.io/holds',
} as const
