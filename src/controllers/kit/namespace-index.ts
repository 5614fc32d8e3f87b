import type { KubeObject } from '../../api/object.ts'
import type { ResourceType } from '../../client/index.ts'
import type { Caches } from './caches.ts'
import { type CacheIndex, indexing } from './definition.ts'

const name = 'in-namespace'
const namespaceOf = ({ metadata }: KubeObject): string[] => [metadata.namespace ?? '']

/** Finds the objects of a namespace: for `allIn`. */
export const indexByNamespace = (type: ResourceType): CacheIndex => indexing(type, name, namespaceOf)

/** Every object of a type in a namespace, where the controller has the index for it. */
export const allIn = <T extends KubeObject>(caches: Caches, type: ResourceType<T>, namespace: string): T[] => caches.byIndex(type, name, namespace)
