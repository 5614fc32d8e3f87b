import type { KubeObject } from '../../../api/object.ts'
import type { ServerObjects } from '../../objects/objects.ts'
import { type Hook, HookIndex } from './hook-index.ts'

const group = 'admissionregistration.k8s.io'

/** Objects of one kind, in the order of their names: the order in which Kubernetes asks webhooks and policies. */
export function inOrderOfNames<T extends KubeObject>(objects: ServerObjects, plural: string): T[] {
  const nameOf = ({ metadata: { name = '' } }: T) => name
  return objects.list<T>(group, plural, '').sort((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1))
}

/**
 * The hooks that are configured now. A change of the configuration holds for the request that follows it: the index is made anew when the next
 * request asks for it. Without any configuration a request costs one comparison.
 */
export class LiveIndex<H extends Hook> {
  readonly #build: () => readonly H[]
  #index: HookIndex<H> | undefined

  /** `plurals` are the kinds of admissionregistration.k8s.io that `build` reads. */
  constructor(objects: ServerObjects, plurals: readonly string[], build: () => readonly H[]) {
    this.#build = build
    for (const plural of plurals) objects.follow(group, plural, () => (this.#index = undefined))
  }

  get current(): HookIndex<H> {
    return (this.#index ??= new HookIndex(this.#build()))
  }
}
