/** Names in which provisioner, node agents and users of local-path volumes agree. */
export const localPathProvisioner = 'coxswain.dev/local-path'

/** On a volume whose directory a node has to remove: the volume stays until that is done. */
export const localPathFinalizer = 'coxswain.dev/local-path'

/** On a volume: the node that has its directory. */
export const localPathNode = 'coxswain.dev/local-path-node'

/** On a node whose agent removes the directories of deleted volumes, and then their finalizer. */
export const removesLocalPaths = 'coxswain.dev/removes-local-paths'

/** The class that claims get where nobody has made another one the default. */
export const standardClass = 'standard'
