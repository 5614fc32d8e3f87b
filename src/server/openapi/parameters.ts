/** A query or path parameter. */
export interface Parameter {
  name: string
  in: 'query' | 'path'
  type: 'string' | 'integer' | 'boolean'
  description: string
}

const query = (name: string, type: Parameter['type'], description: string): Parameter => ({
  name,
  in: 'query',
  type,
  description,
})

export const nameParameter = (kind: string): Parameter => ({
  name: 'name',
  in: 'path',
  type: 'string',
  description: `name of the ${kind}`,
})

export const namespaceParameter: Parameter = {
  name: 'namespace',
  in: 'path',
  type: 'string',
  description: 'object name and auth scope, such as for teams and projects',
}

const pretty = query('pretty', 'string', "If 'true', then the output is pretty printed.")

const dryRun = query(
  'dryRun',
  'string',
  'When present, indicates that modifications should not be persisted. Valid values are: - All: all dry run stages will be processed',
)

const fieldManager = query(
  'fieldManager',
  'string',
  'fieldManager is a name associated with the actor or entity that is making these changes.',
)

const fieldValidation = query(
  'fieldValidation',
  'string',
  'fieldValidation instructs the server on how to handle unknown or duplicate fields in the request: Ignore, Warn (the default) or Strict.',
)

const force = query(
  'force',
  'boolean',
  'Force is going to "force" Apply requests: fields of other managers are taken over.',
)

const selecting = [
  query(
    'fieldSelector',
    'string',
    'A selector to restrict the list of returned objects by their fields. Defaults to everything.',
  ),
  query(
    'labelSelector',
    'string',
    'A selector to restrict the list of returned objects by their labels. Defaults to everything.',
  ),
  query('limit', 'integer', 'limit is a maximum number of responses to return for a list call.'),
  query('continue', 'string', 'The continue option should be set when retrieving more results from the server.'),
  query(
    'resourceVersion',
    'string',
    'resourceVersion sets a constraint on what resource versions a request may be served from.',
  ),
  query(
    'resourceVersionMatch',
    'string',
    'resourceVersionMatch determines how resourceVersion is applied to list calls.',
  ),
  query(
    'sendInitialEvents',
    'boolean',
    '`sendInitialEvents=true` may be set together with `watch=true`: the current objects come first.',
  ),
  query(
    'timeoutSeconds',
    'integer',
    'Timeout for the list/watch call. This limits the duration of the call, regardless of any activity or inactivity.',
  ),
]

const watching = [
  query('allowWatchBookmarks', 'boolean', 'allowWatchBookmarks requests watch events with type "BOOKMARK".'),
  query(
    'watch',
    'boolean',
    'Watch for changes to the described resources and return them as a stream of add, update, and remove notifications.',
  ),
]

const deleting = [
  dryRun,
  query(
    'gracePeriodSeconds',
    'integer',
    'The duration in seconds before the object should be deleted. Zero means delete immediately.',
  ),
  query(
    'orphanDependents',
    'boolean',
    'Deprecated: please use the PropagationPolicy. Should the dependent objects be orphaned.',
  ),
  query(
    'propagationPolicy',
    'string',
    "Whether and how garbage collection will be performed: 'Orphan', 'Background' or 'Foreground'.",
  ),
]

/** The query parameters of each kind of operation. */
export const queries = {
  get: [pretty],
  list: [pretty, ...watching, ...selecting],
  create: [pretty, dryRun, fieldManager, fieldValidation],
  update: [pretty, dryRun, fieldManager, fieldValidation],
  patch: [pretty, dryRun, fieldManager, fieldValidation, force],
  delete: [pretty, ...deleting],
  deletecollection: [pretty, ...deleting, ...selecting],
} satisfies Record<string, Parameter[]>
