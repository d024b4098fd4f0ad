/**
 * Every failure a user can see: one class, one table of codes.
 *
 * A code says which part failed and why; the message says what happened, with the facts of the case;
 * the remedy says what to do about it. docs/reference/errors.md is made from `errorCodes`.
 */

/** Every code with its meaning, in one sentence. This is the only list of codes. */
export const errorCodes = {
  APP_HOST_REFUSED:
    'A Host that an application follows broke the protocol, or proved to be another one than before.',
  APP_OPTION_INVALID: 'An option of an application is not one that is accepted.',
  APP_QUERY_REFUSED: 'A query of an application is not valid, or takes too much.',
  APP_ROWS_MISSING:
    'An application has no rows of a block: the View failed there, or Hosts did not agree.',
  CHAIN_ANSWER_MALFORMED: 'A node returned something that is not the expected JSON-RPC response.',
  CHAIN_ANSWER_TOO_LARGE: 'A node’s response to one request is larger than the limit.',
  CHAIN_BLOCK_INCOMPLETE: 'The receipts a node returned are not exactly those of the block.',
  CHAIN_BLOCK_UNAVAILABLE: 'A node does not have a block, or not yet.',
  CHAIN_HEADER_MISMATCH: 'A block’s hash is not the hash of its header.',
  CHAIN_HTTP_STATUS: 'A node returned an HTTP status that is a failure.',
  CHAIN_METHOD_MISSING: 'A node does not have a method that is needed.',
  CHAIN_RPC_ERROR: 'A node returned a JSON-RPC error.',
  CHAIN_TIMEOUT: 'A node did not respond in time.',
  CHAIN_UNAUTHORIZED: 'A node refuses the API key, or requires one.',
  CHAIN_UNREACHABLE: 'No connection to a node, or one that broke before the response was complete.',
  CONFIG_INVALID: 'A setting is missing, mistyped, unknown or contradicts another one.',
  DEVNET_ANVIL_MISSING:
    'The execution node of the development chain is not available for this machine.',
  DEVNET_NODE_UNREACHABLE:
    'The execution node of the development chain does not respond, or not as an execution node.',
  DEVNET_PATH_UNUSABLE: 'The directory of the development chain cannot be made or written.',
  DEVNET_PROGRAM_ENDED: 'A program of the development chain exited unexpectedly.',
  DEVNET_START_TIMEOUT: 'A program of the development chain did not start in time.',
  DEVNET_VIEW_REFUSED: 'The Host of the development chain does not take the View of its token.',
  GENERATOR_CHAIN_CHANGED: 'The execution node follows another chain than the stored one.',
  GENERATOR_CHAIN_MISMATCH:
    'The execution node has another chain ID than the chain that is configured.',
  GENERATOR_IDENTITY_REPLACED:
    'The store of a Generator was sealed with another identity than the one it signs with.',
  GENERATOR_KEY_RUNS_TWICE: 'Another program signs heads with the same key as this Generator.',
  GRAPHQL_ABORTED: 'The client closed the connection before the response was ready.',
  GRAPHQL_BUSY: 'Concurrent requests use so much memory that there is none left for this one.',
  GRAPHQL_CONDITION_INVALID: 'A filter, order, group or format is not possible for the field.',
  GRAPHQL_COST_LIMIT:
    'A query reads more documents, or compares one with more, than one request may.',
  GRAPHQL_DEPTH_LIMIT: 'A query nests deeper than one request may.',
  GRAPHQL_PLAYGROUND_MISSING: 'A file of the playground is not installed.',
  GRAPHQL_READ_ONLY: 'A mutation was sent; documents only come from sealed blocks.',
  GRAPHQL_ROW_LIMIT: 'A response, a sort or a group has more rows than one request may.',
  GRAPHQL_SIZE_LIMIT:
    'A response, or what is buffered to build it, takes more bytes than one request may.',
  GRAPHQL_SUBSCRIBER_SLOW: 'A subscriber reads events more slowly than they arrive.',
  GRAPHQL_SYNTAX_LIMIT:
    'A query or its variables have more tokens, brackets, fields, conditions, keys or values than one request may.',
  GRAPHQL_TIME_LIMIT: 'A query takes longer than one request may.',
  GRAPHQL_VIEW_BUSY: 'As many queries compute Views as may at once.',
  GRAPHQL_VIEW_FAILED:
    'A View was queried for a block at which it failed, or which it does not try as it is quarantined, or it failed while it was computed for a query.',
  GRAPHQL_VIEW_GONE: 'A View was removed while a client was subscribed to its rows.',
  GRAPHQL_VIEW_LIMIT:
    'A View that is computed for a query took more time, memory, rows or bytes than it may.',
  GRAPHQL_VIEW_NOT_COMPUTED:
    'A View was queried for a block of which it has not computed the rows, or had not before the block was pruned.',
  GRAPHQL_VIEW_NOT_STORED:
    'A client wanted to subscribe to a View whose rows are not stored, or a minimum of attestations for them.',
  HOST_BLOCK_REJECTED: 'A peer sent a block that breaks a rule; another peer is tried.',
  HOST_FORK_DEEP:
    'The counted signers abandoned more stored blocks than give way before a minute has passed.',
  HOST_FORK_TOO_DEEP:
    'The counted signers abandoned more stored blocks than they may decide without the others.',
  HOST_GENESIS_MISMATCH:
    'A signer is on another chain of the same name: its block 0 is another one.',
  HOST_NETWORK_UNKNOWN:
    'A Host without a store waits for its Generator to report which chain it indexes.',
  HOST_NO_SIGNER: 'A Host accepts no signer, so that it stores nothing.',
  HOST_REGISTRY_DENY_UNREAD:
    'A Host admits no View of the registry chain, because the file of those that it must not serve cannot be read.',
  HOST_REGISTRY_INCOMPLETE:
    'A Host has the consensus RPC of the registry chain, but not the LCD that lists its Views.',
  HOST_SCHEMA_UNAUTHORIZED:
    'A Generator refuses the token that was sent for its schema, or it cannot be sent.',
  HOST_SCHEMA_UNREACHABLE: 'A Generator’s schema endpoint did not respond in time.',
  HOST_SCHEMA_UNREADABLE: 'The response of a Generator’s schema endpoint is not a schema.',
  HOST_SIGNER_BELOW: 'A signer stands below every block that the Host keeps.',
  HOST_SIGNER_CHANGED: 'A bootstrap peer proves another identity than the one accepted from it.',
  HOST_SIGNER_SILENT: 'No head of an accepted signer has arrived for a while.',
  HOST_ROWS_DIFFER: 'An accepted Host signed other rows of a View than this one.',
  HOST_SIGNER_TWICE: 'A signer signs two heads with one sequence: its key runs twice.',
  HOST_SIGNERS_DISAGREE: 'Accepted signers have stood on different branches for a minute.',
  HOST_SIGNERS_FILE_UNUSABLE: 'The file of accepted signers is missing, empty or malformed.',
  HOST_TRUSTED_HOST_CHANGED:
    'A bootstrap peer or sibling proves to be another Host than the one accepted from it.',
  HOST_TRUSTED_HOSTS_FILE_UNUSABLE: 'The file of accepted Hosts is missing, empty or malformed.',
  HOST_STANDS_STILL: 'A Host stores nothing while heads of its signers go on.',
  HOST_TRUSTS_ANYONE: 'A Host is configured to trust anyone who signs a block.',
  HOST_VIEW_BUSY: 'As many queries compute Views as may at once.',
  HOST_VIEW_CHECK_TIMEOUT:
    'A View that came could not be checked in the time that there is for it.',
  HOST_VIEW_DELAYED:
    'Blocks of a View could not be computed, for no fault of its own; they are tried again.',
  HOST_VIEW_FIELDS_FULL: 'The Views of a Host have as many fields together as it serves.',
  HOST_VIEW_FILE_REFUSED: 'A file of HOST_VIEWS_DIR is not served.',
  HOST_VIEW_FILE_UNREADABLE: 'A file of HOST_VIEWS_DIR cannot be read.',
  HOST_VIEW_IN_FOLDER:
    'A View of the folder of HOST_VIEWS_DIR cannot be deleted from a Host by a request.',
  HOST_VIEW_REFUSED: 'A request about a View is not in its documented form, or cannot be granted.',
  HOST_VIEW_REGISTERED:
    'A View that is registered on the registry chain cannot be deleted from a Host.',
  HOST_VIEW_UNREADABLE: 'A View that was accepted before cannot be read by this version.',
  HOST_VIEWS_DIR_UNREADABLE: 'The folder of HOST_VIEWS_DIR cannot be read.',
  HOST_VIEWS_FULL: 'A Host serves as many Views as MAX_VIEWS allows.',
  IDENTITY_DAMAGED:
    'The key file is not a Viewmesh key file, is of an unknown version, or is truncated.',
  IDENTITY_DIRECTORY_UNUSABLE:
    'The key directory cannot be created, read or written for another reason than permissions.',
  IDENTITY_LOCKED: 'The key file does not open with this keyring secret.',
  IDENTITY_PERMISSION: 'The process may not read or write the key directory.',
  IDENTITY_SECRET_MISSING: 'No keyring secret was given.',
  LENS_ARGUMENTS_REFUSED:
    'The arguments of a lens are not a JSON object, or the lens refuses them.',
  LENS_BUSY: 'More work waits for the lenses of one View than is kept.',
  LENS_FAILED: 'A lens returned an error instead of a document.',
  LENS_MEMORY_LIMIT: 'The process of the lenses took more memory than it may.',
  LENS_MODULE_REFUSED: 'A WebAssembly module does what a lens may not, or is malformed.',
  LENS_OUTPUT_INVALID:
    'A lens breaks the lens ABI: what it returned is outside its memory, or unknown.',
  LENS_OUTPUT_LIMIT:
    'The lenses of a View return more, or grow larger, than they may for a block, or for a query.',
  LENS_PROCESS_DIED: 'The process of the lenses ended while it worked on a block, or for a query.',
  LENS_TIME_LIMIT: 'The lenses of a View take longer than they may for a block, or for a query.',
  LENS_TRAPPED: 'A lens was ended by a WebAssembly trap.',
  OPERATOR_API_ANSWER_MALFORMED:
    'The API server returned something that is not JSON, or closed the connection within a response.',
  OPERATOR_API_ANSWER_TOO_LARGE: 'A response of the API server is larger than the limit.',
  OPERATOR_API_BUSY: 'The API server is overloaded and asks to retry later.',
  OPERATOR_API_CONFLICT: 'An object changed since it was read, or others own fields of it.',
  OPERATOR_API_EXISTS: 'An object that was to be created already exists.',
  OPERATOR_API_EXPIRED: 'The API server no longer knows what changed since a resourceVersion.',
  OPERATOR_API_FAILED: 'The API server failed to process a request.',
  OPERATOR_API_FORBIDDEN:
    'The role of the operator lacks a verb on a kind, or a policy of the cluster denies the request.',
  OPERATOR_API_INVALID: 'The API server rejects an object, or a change to it, as invalid.',
  OPERATOR_API_NOT_FOUND: 'An object, or its kind, does not exist.',
  OPERATOR_API_REFUSED: 'The API server does not understand a request.',
  OPERATOR_API_TIMEOUT: 'The API server did not respond in time, or a watch went silent.',
  OPERATOR_API_UNAUTHORIZED: 'The API server does not accept the operator’s token or certificate.',
  OPERATOR_API_UNREACHABLE:
    'No connection to the API server, or one that broke before the response was complete.',
  OPERATOR_CONNECTION_MISSING: 'The operator finds no cluster to connect to.',
  OPERATOR_FENCED: 'A write was held back, because another operator may be the leader by now.',
  OPERATOR_LEADERSHIP_LOST: 'Another operator took the Lease and is the leader now.',
  OPERATOR_NAME_TAKEN: 'An object of a needed name belongs to something else.',
  OPERATOR_TERMINATING: 'An object of a deleted resource still exists under a name that is needed.',
  P2P_ADDRESS_INVALID: 'A peer, listen or announce address is not in the documented form.',
  P2P_ALL_DIALS_FAILED: 'None of the addresses of a peer could be reached.',
  P2P_ASK_FAILED: 'A peer did not respond to a request.',
  P2P_CHANNEL_FAILED: 'A stream to a peer could not be opened, or ended early.',
  P2P_LISTEN_FAILED: 'The peer-to-peer port could not be opened.',
  P2P_MESSAGE_TOO_LARGE: 'A message to publish is above the gossip limit.',
  P2P_OTHER_NETWORK: 'A bootstrap peer serves another network than this program.',
  P2P_PEER_ID_MISMATCH: 'Another peer than the expected one responds at an address.',
  P2P_PULL_FAILED: 'Blocks could not be pulled from a peer.',
  PLUGIN_ARGUMENT_INVALID: 'An argument of kubectl viewmesh is not in its documented form.',
  PLUGIN_BACKUP_UNUSABLE:
    'A backup of an identity is damaged, or its parts do not belong together.',
  PLUGIN_CLAIM_KEPT: 'A claim is not deleted, because something uses it or an identity is on it.',
  PLUGIN_EXEC_FAILED: 'A command could not be run in a container.',
  PLUGIN_FILE_UNUSABLE: 'A file cannot be read, or exists already and is not written over.',
  PLUGIN_HELPER_FAILED: 'A pod that is to mount a claim for a moment does not start.',
  PLUGIN_IDENTITY_CONFLICT: 'A restore is refused, because another identity is in its place.',
  PLUGIN_IDENTITY_INCOMPLETE: 'A backup is refused, because a part of the identity is not there.',
  PLUGIN_KEYS_UNREADABLE: 'A key file cannot be read from its volume, or written to it.',
  PLUGIN_RESOURCE_MISSING: 'A Generator or Host that is named does not exist, or has no pods.',
  PRIMITIVES_BLOCK_MALFORMED:
    'A node returned a block, transaction or receipt with a field that cannot be read.',
  PRIMITIVES_BODY_MALFORMED:
    'The bytes of a block’s documents are damaged, contradict each other or exceed a limit.',
  PRIMITIVES_MESSAGE_MALFORMED: 'The bytes of a sealed block are damaged or exceed a limit.',
  PRIMITIVES_NAME_INVALID: 'A chain or network name cannot be part of a GraphQL type name.',
  PRIMITIVES_NOT_CANONICAL: 'A document’s bytes are not the one canonical encoding of its values.',
  REGISTRY_ANSWER_MALFORMED: 'The registry chain returned something else than it was asked for.',
  REGISTRY_ANSWER_TOO_LARGE: 'An answer of the registry chain is larger than is accepted.',
  REGISTRY_LIST_ENDLESS: 'The list of Views of the registry chain does not end.',
  REGISTRY_REFUSED: 'The registry chain answered a request with an error.',
  REGISTRY_UNREACHABLE: 'The registry chain did not answer, or broke off.',
  REGISTRY_VIEW_MISMATCH: 'The ID of a registered View does not follow from its creator and bytes.',
  SERVICE_PORT_UNAVAILABLE: 'An address to listen on is in use, or not an address of this machine.',
  SERVICE_STOP_TIMEOUT: 'A part of the program did not close within the stop timeout.',
  SERVICE_THREAD_DIED: 'A worker thread exited unexpectedly.',
  STORE_DAMAGED: 'The store’s file ends before all that it names.',
  STORE_FOREIGN: 'The store was made for another network, another chain or another program.',
  STORE_FORMAT_UNKNOWN:
    'The store’s file is not a Viewmesh store, or has the layout of another version.',
  STORE_FULL: 'There is no space left for the store.',
  STORE_LOCKED: 'Another program has the store open.',
  STORE_NEARLY_FULL: 'The volume of the store has little space left; the store works on.',
  STORE_NOT_OPEN: 'A store was read that no writer of the process has open.',
  STORE_PATH_UNUSABLE: 'The store’s directory cannot be created, read, written or locked.',
  STORE_SNAPSHOT_EXPIRED:
    'A snapshot of the store was used after its release, or held for too long.',
  STORE_WRITE_FAILED: 'The store could not be written.',
  TOOLKIT_ABI_UNUSABLE:
    'A file holds no ABI of a contract, or none with the event that is asked for.',
  TOOLKIT_BALANCE_LOW: 'An address has less than registering a View or a node may cost.',
  TOOLKIT_BUILD_FAILED: 'A lens does not compile.',
  TOOLKIT_CHAIN_INCOMPATIBLE: 'A View reads another chain than the blocks it is tested on.',
  TOOLKIT_CHAIN_REFUSED:
    'The chain behind --rpc is not a known registry chain, or not the one that is signed for.',
  TOOLKIT_COMPILER_MISSING: 'What compiles a lens is not installed.',
  TOOLKIT_DEPLOYMENTS_UNREADABLE: 'The file with the deployments of a project cannot be read.',
  TOOLKIT_DEPLOYMENT_DECLINED: 'Somebody who was asked did not want a View to be registered.',
  TOOLKIT_DOWNLOAD_REFUSED:
    'A lens on the Web is too large, is not the one that was named, or is not there.',
  TOOLKIT_DOWNLOAD_UNREACHABLE: 'A lens could not be downloaded.',
  TOOLKIT_EXPECTED_INVALID: 'A file of expected rows is missing, too large or malformed.',
  TOOLKIT_FEE_HIGH: 'Registering may cost more than --max-fee allows.',
  TOOLKIT_FILE_REFUSED: 'A file of a project is too large, unreadable, or outside of the project.',
  TOOLKIT_FIXTURE_INVALID: 'A file of blocks to test a View on is missing, too large or malformed.',
  TOOLKIT_FOLDER_TAKEN: 'A folder that is to be made exists already.',
  TOOLKIT_HISTORY_DAMAGED: 'What a project keeps of former versions of a View is damaged.',
  TOOLKIT_HOST_ANSWER_INVALID: 'A Host answered what a Host does not answer, or more than is read.',
  TOOLKIT_HOST_ENDED: 'The Host that the toolkit started ended by itself.',
  TOOLKIT_HOST_REFUSED: 'A Host refuses what it was asked for.',
  TOOLKIT_HOST_TIMEOUT: 'A Host did not respond in time.',
  TOOLKIT_HOST_UNREACHABLE:
    'No connection to a Host, or one that broke before the response was complete.',
  TOOLKIT_HOST_URL_INVALID: 'The URL of a Host is malformed.',
  TOOLKIT_INPUT_UNREADABLE: 'A file that a command was given cannot be read.',
  TOOLKIT_LENS_EXISTS: 'A View has a lens with this label already.',
  TOOLKIT_LENS_FILE_REFUSED: 'A module of a lens is missing, unreadable or too large.',
  TOOLKIT_LENS_MISSING: 'The module of a lens is not where its View says.',
  TOOLKIT_LENS_UNFIT: 'A lens was examined and is not fit for a View.',
  TOOLKIT_LENS_UNKNOWN: 'A View has no lens with this label.',
  TOOLKIT_MACHINE_UNFIT: 'Something that the toolkit needs on this machine does not work.',
  TOOLKIT_NODE_REFUSED: 'A node cannot be registered as things are.',
  TOOLKIT_NODE_UNPROVEN: 'What a node answers for its registration does not prove its identity.',
  TOOLKIT_NODE_UNREACHABLE: 'There is no Generator or Host where one is to be registered.',
  TOOLKIT_NONCE_TAKEN:
    'Another transaction took the place of one that was prepared, which can never be sent any more.',
  TOOLKIT_PREPARED_INVALID:
    'A file with a prepared deployment is missing, malformed, changed or in the way.',
  TOOLKIT_PROJECT_BUSY: 'Another process changes the project and does not finish.',
  TOOLKIT_PROJECT_UNREADABLE:
    'The settings of a project cannot be read, or are of another version.',
  TOOLKIT_REGISTRATION_REFUSED: 'The registry chain did not register a View that was sent to it.',
  TOOLKIT_REGISTRATION_TIMEOUT: 'What was sent to the registry chain is not registered yet.',
  TOOLKIT_REVISION_MISSING: 'A View has no version of this number.',
  TOOLKIT_SIGNER_CHANGED:
    'A registration was prepared with another key than it is to be sent with.',
  TOOLKIT_TARGET_UNSUPPORTED: 'Views cannot be deployed to this target.',
  TOOLKIT_TEST_FAILED: 'The test of a View found an error.',
  TOOLKIT_TYPES_REFUSED: 'Types of Views are not written where they were wanted, or as they were.',
  TOOLKIT_USAGE_INVALID: 'A command of the toolkit does not take what it was given.',
  TOOLKIT_VIEW_EXISTS: 'A project has a View of this name already.',
  TOOLKIT_VIEW_INCOMPLETE: 'A View lacks its query or its SDL.',
  TOOLKIT_VIEW_MISSING: 'A project or a Host has no View of this name.',
  TOOLKIT_VIEW_UNREADABLE: 'The file that lists the lenses of a View is malformed.',
  TOOLKIT_WALLET_EXISTS: 'A wallet of this name is there already.',
  TOOLKIT_WALLET_INVALID: 'A keystore, private key or mnemonic is malformed.',
  TOOLKIT_WALLET_LOCKED: 'No password was given for a wallet, or a wrong one.',
  TOOLKIT_WALLET_MISSING: 'There is no wallet of this name.',
  VERIFY_ACCEPTANCE_INVALID:
    'The identities to accept are none, no public keys, one twice, or fewer than have to sign.',
  VERIFY_ANSWER_UNREADABLE: 'An answer to verify is not there, too large or not JSON.',
  VERIFY_PROOF_MISSING: 'An answer to verify has no document with a `_proof`.',
  VIEWS_ARGUMENTS_INVALID: 'The arguments of a lens are not a JSON object.',
  VIEWS_FILE_MALFORMED: 'A file of a View is too short, or is not the View that its name says.',
  VIEWS_QUERY_INVALID: 'The query of a View is malformed, or asks for what a View may not use.',
  VIEWS_ROW_MALFORMED: 'Bytes that should be a row of a View are not.',
  VIEWS_SDL_INVALID: 'The SDL of a View is malformed, or uses what rows may not have.',
  VIEWS_SELECTION_TOO_LARGE: 'A View selects more of a block, or of several, than it may.',
  VIEWS_TOO_LARGE: 'A part of a View is larger than the registry chain accepts.',
  VIEWS_WIRE_MALFORMED: 'Bytes that should be a View are not.',
} as const

export type ErrorCode = keyof typeof errorCodes

export type Fact = string | number | bigint | boolean | null

interface ServiceErrorOptions {
  /** Machine-readable details of this case; never a secret. */
  readonly facts?: Readonly<Record<string, Fact>>
  /** What the reader should do, in one sentence. */
  readonly remedy?: string
  readonly cause?: unknown
}

/** An error with a stable code, the facts of the case and a remedy. */
export class ServiceError extends Error {
  override readonly name = 'ServiceError'
  readonly code: ErrorCode
  readonly facts: Readonly<Record<string, Fact>>
  readonly remedy: string | undefined

  constructor(code: ErrorCode, message: string, options: ServiceErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.code = code
    this.facts = options.facts ?? {}
    this.remedy = options.remedy
  }
}

/** The code of an error, such as ENOENT of a system call; null where it has none. */
export function codeOf(error: unknown): string | null {
  return error instanceof Error && 'code' in error ? String(error.code) : null
}

/** What a failure says, whatever was thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

/** The same with its code; a refused connection may have no message. */
export function messageWithCode(error: unknown): string {
  const message = messageOf(error) || 'failed'
  const code = codeOf(error)
  return code === null ? message : `${message} (${code})`
}

/** Throws on a programming error; never for bad input. */
export function invariant(condition: unknown, message: string): asserts condition {
  if (!condition) throw new Error(`broken invariant: ${message}`)
}
