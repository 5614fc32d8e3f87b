import type {
  ClusterRole,
  ClusterRoleBinding,
  PolicyRule,
  RbacV1Subject,
  Role,
  RoleBinding,
} from '../../../api/generated/types.ts'
import type { Objects, UserInfo } from '../../objects/objects.ts'
import { userName } from '../service-account-tokens.ts'
import { type Grant, type Lookup, RuleTable } from './rule-table.ts'

const rbacGroup = 'rbac.authorization.k8s.io'

/** The binding that a decision's reason names. */
export interface BoundBy {
  readonly kind: 'ClusterRoleBinding' | 'RoleBinding'
  readonly namespace: string
  readonly name: string
  readonly roleKind: string
  readonly roleName: string
  /** Example: `User "ann"`. */
  readonly subject: string
}

type AnyBinding = RoleBinding | ClusterRoleBinding

/** The rules of a subject in one scope, and the missing roles that its bindings refer to. */
interface Compiled {
  table: RuleTable<BoundBy>
  errors: readonly string[]
}

/** The bindings of one subject in one namespace, or in the cluster. */
class Bucket {
  /** Keyed by the binding's name. */
  readonly bindings = new Map<string, { roleKey: string; by: BoundBy }>()
  /** Compiled on first use; reset when a binding or role changes. */
  #compiled: Compiled | undefined

  compiled(rulesOf: (roleKey: string) => readonly PolicyRule[] | undefined): Compiled {
    if (this.#compiled) return this.#compiled
    const table = new RuleTable<BoundBy>()
    const errors = new Set<string>()
    for (const { roleKey: key, by } of this.bindings.values()) {
      const rules = rulesOf(key)
      if (rules) table.add(rules, by)
      else errors.add(`${by.roleKind.toLowerCase()}.${rbacGroup} ${JSON.stringify(by.roleName)} not found`)
    }
    return (this.#compiled = { table, errors: [...errors] })
  }

  changed(): void {
    this.#compiled = undefined
  }
}

const userKey = (name: string) => `u:${name}`
const groupKey = (name: string) => `g:${name}`
const clusterRoleKey = (name: string) => `c:${name}`

/**
 * Indexes role bindings by subject, updated on every change of a role or binding. A request looks up its user and
 * groups among the cluster's bindings and those of its namespace.
 */
export class RbacIndex {
  /** Keyed by namespace ('' for the cluster), then by subject. */
  readonly #scopes = new Map<string, Map<string, Bucket>>()
  /** The buckets to recompile when a role changes, by role. */
  readonly #bucketsOfRole = new Map<string, Set<Bucket>>()
  readonly #rules = new Map<string, readonly PolicyRule[]>()
  /** Builds the index from stored objects and keeps it current. */
  static of(objects: Objects): RbacIndex {
    const index = new RbacIndex()
    for (const kind of ['ClusterRole', 'Role'] as const) {
      const plural = `${kind.toLowerCase()}s`
      for (const role of objects.list<ClusterRole | Role>(rbacGroup, plural, ''))
        index.setRole(kind, role.metadata.namespace ?? '', role.metadata.name!, role.rules ?? [])
      objects.follow(rbacGroup, plural, (change) => {
        const role = change.object() as ClusterRole | Role | undefined
        index.setRole(kind, change.namespace, change.name, role && (role.rules ?? []))
      })
    }
    for (const kind of ['ClusterRoleBinding', 'RoleBinding'] as const) {
      const plural = `${kind.toLowerCase()}s`
      for (const binding of objects.list<AnyBinding>(rbacGroup, plural, '')) index.setBinding(kind, undefined, binding)
      objects.follow(rbacGroup, plural, (change) =>
        index.setBinding(kind, change.previous() as AnyBinding | undefined, change.object() as AnyBinding | undefined),
      )
    }
    return index
  }

  /** `rules` is undefined for a deleted role. */
  setRole(
    kind: 'ClusterRole' | 'Role',
    namespace: string,
    name: string,
    rules: readonly PolicyRule[] | undefined,
  ): void {
    const key = roleKey(kind, namespace, name)
    if (rules) this.#rules.set(key, rules)
    else this.#rules.delete(key)
    for (const bucket of this.#bucketsOfRole.get(key) ?? []) bucket.changed()
  }

  setBinding(kind: BoundBy['kind'], previous: AnyBinding | undefined, current: AnyBinding | undefined): void {
    if (previous) this.#remove(previous)
    if (current) this.#add(kind, current)
  }

  rulesOfRole(kind: string, namespace: string, name: string): readonly PolicyRule[] | undefined {
    return this.#rules.get(roleKey(kind, namespace, name))
  }

  /** Returns the first grant that allows an attempt; cluster-wide bindings come first. */
  find(user: UserInfo, namespace: string, lookup: Lookup): Grant<BoundBy> | undefined {
    for (const bucket of this.#bucketsOf(user, namespace)) {
      const found = bucket.compiled(this.#rulesOfKey).table.find(lookup)
      if (found) return found
    }
    return undefined
  }

  /** Error messages for missing roles that the user's bindings refer to. */
  errorsOf(user: UserInfo, namespace: string): string[] {
    const errors = new Set<string>()
    for (const bucket of this.#bucketsOf(user, namespace))
      for (const error of bucket.compiled(this.#rulesOfKey).errors) errors.add(error)
    return [...errors]
  }

  /** All rules of a user; those of a role bound twice appear once. */
  rulesOf(user: UserInfo, namespace: string): PolicyRule[] {
    const keys = new Set<string>()
    for (const bucket of this.#bucketsOf(user, namespace))
      for (const { roleKey: key } of bucket.bindings.values()) keys.add(key)
    return [...keys].flatMap((key) => this.#rules.get(key) ?? [])
  }

  readonly #rulesOfKey = (key: string) => this.#rules.get(key)

  #bucketsOf({ name, groups }: UserInfo, namespace: string): Bucket[] {
    const found: Bucket[] = []
    const keys = [userKey(name), ...groups.map(groupKey)]
    for (const scope of namespace === '' ? [''] : ['', namespace]) {
      const bySubject = this.#scopes.get(scope)
      for (const key of bySubject ? keys : []) {
        const bucket = bySubject!.get(key)
        if (bucket) found.push(bucket)
      }
    }
    return found
  }

  #add(kind: BoundBy['kind'], binding: AnyBinding): void {
    const { namespace = '', name = '' } = binding.metadata
    const { kind: roleKind, name: roleName } = binding.roleRef
    const key = roleKey(roleKind, namespace, roleName)
    for (const subject of binding.subjects ?? []) {
      const subjectKey = keyOfSubject(subject, namespace)
      if (subjectKey === undefined) continue
      const bucket = this.#bucket(namespace, subjectKey)
      bucket.bindings.set(name, {
        roleKey: key,
        by: { kind, namespace, name, roleKind, roleName, subject: describeSubject(subject, namespace) },
      })
      bucket.changed()
      const buckets = this.#bucketsOfRole.get(key)
      if (buckets) buckets.add(bucket)
      else this.#bucketsOfRole.set(key, new Set([bucket]))
    }
  }

  #remove(binding: AnyBinding): void {
    const { namespace = '', name = '' } = binding.metadata
    const bySubject = this.#scopes.get(namespace)
    for (const subject of binding.subjects ?? []) {
      const subjectKey = keyOfSubject(subject, namespace)
      const bucket = subjectKey === undefined ? undefined : bySubject?.get(subjectKey)
      const removed = bucket?.bindings.get(name)
      if (!bucket || !removed) continue
      bucket.bindings.delete(name)
      bucket.changed()
      if (![...bucket.bindings.values()].some((other) => other.roleKey === removed.roleKey))
        this.#bucketsOfRole.get(removed.roleKey)?.delete(bucket)
      if (bucket.bindings.size === 0) bySubject!.delete(subjectKey!)
    }
  }

  #bucket(namespace: string, subjectKey: string): Bucket {
    let bySubject = this.#scopes.get(namespace)
    if (!bySubject) this.#scopes.set(namespace, (bySubject = new Map()))
    let bucket = bySubject.get(subjectKey)
    if (!bucket) bySubject.set(subjectKey, (bucket = new Bucket()))
    return bucket
  }
}

const roleKey = (kind: string, namespace: string, name: string): string =>
  kind === 'ClusterRole' ? clusterRoleKey(name) : `r:${namespace}/${name}`

/** A service account subject is keyed by its user name; its default namespace is the binding's. */
function keyOfSubject({ kind, name, namespace }: RbacV1Subject, bindingNamespace: string): string | undefined {
  if (kind === 'User') return userKey(name)
  if (kind === 'Group') return groupKey(name)
  const home = namespace || bindingNamespace
  return kind === 'ServiceAccount' && home ? userKey(userName(home, name)) : undefined
}

const describeSubject = ({ kind, name, namespace }: RbacV1Subject, bindingNamespace: string): string =>
  `${kind} ${JSON.stringify(kind === 'ServiceAccount' ? `${name}/${namespace || bindingNamespace}` : name)}`
