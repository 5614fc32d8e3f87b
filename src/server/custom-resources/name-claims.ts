import type { CustomResourceDefinition, CustomResourceDefinitionNames } from '../../api/generated/types.ts'
import { jsonText, readJson } from '../../api/json/index.ts'
import type { ObjectStore } from '../objects/object-store.ts'

/** No resource uses this prefix, so the API does not expose claims. */
const prefix = '/registry/coxswain.io/kind-names/'
/** Maximum number of attempts to take over an unused claim in a race with other servers. */
const attempts = 8

interface Claimant {
  name: string
  uid: string
}

/** The names of a kind in paths (plural and short names) and of its objects (kinds). */
const namesOf = ({
  plural,
  singular,
  shortNames = [],
  kind,
  listKind,
}: Partial<CustomResourceDefinitionNames>): string[] => [
  ...[plural, singular, ...shortNames].flatMap((name) => (name ? [`resources/${name}`] : [])),
  ...[kind, listKind].flatMap((name) => (name ? [`kinds/${name}`] : [])),
]

/**
 * Claims of names in a store that several servers share. A server claims a definition's names before it grants them, so
 * that only one of two concurrent definitions gets a name. Claims are not released: a claim is taken over if its
 * definition is gone or has other names.
 */
export class NameClaims {
  readonly #objects: ObjectStore
  readonly #find: (name: string) => CustomResourceDefinition | undefined

  constructor(objects: ObjectStore, find: (name: string) => CustomResourceDefinition | undefined) {
    this.#objects = objects
    this.#find = find
  }

  /**
   * Claims the requested names that the definition does not have yet. Returns the names that other definitions hold.
   */
  async take({ metadata, spec, status }: CustomResourceDefinition): Promise<ReadonlySet<string>> {
    const had = namesOf(status.acceptedNames)
    const asked = namesOf(spec.names).filter((name) => !had.includes(name))
    const claimant = { name: metadata.name!, uid: metadata.uid! }
    const refused = await Promise.all(
      asked.map(async (name) =>
        (await this.#takeOne(`${prefix}${spec.group}/${name}`, name, claimant)) ? [] : [name],
      ),
    )
    return new Set(refused.flat())
  }

  async #takeOne(key: string, name: string, claimant: Claimant): Promise<boolean> {
    const { store } = this.#objects
    let expected = 0
    for (let i = 0; i < attempts; i++) {
      const result = await store.write({ key, expected, value: Buffer.from(jsonText(claimant)) })
      if (result.ok) return true
      expected = result.current?.revision ?? 0
      if (!result.current) continue
      const other = readJson(result.current.value.toString()) as unknown as Claimant
      if (other.uid === claimant.uid) return true
      // The claiming server had seen the definition, so wait until this one has.
      await this.#objects.waitUntilSeen(expected)
      if (this.#has(other, name)) return false
    }
    return false
  }

  #has({ name: definition, uid }: Claimant, name: string): boolean {
    const found = this.#find(definition)
    return (
      found?.metadata.uid === uid &&
      [...namesOf(found.spec.names), ...namesOf(found.status.acceptedNames)].includes(name)
    )
  }
}
