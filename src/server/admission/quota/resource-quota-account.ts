import { deepEqual } from '../../../api/deep-equal.ts'
import type { ResourceQuota } from '../../../api/generated/types.ts'
import { addTo, takeFrom } from '../../../api/kinds/quantities/amounts.ts'
import type { ResourceList } from '../../../api/kinds/quantities/resource-names.ts'
import type { KubeObject } from '../../../api/object.ts'
import { type QuotaEvaluator, usageOf } from '../../../api/quota/index.ts'
import type { ObjectChange, Objects } from '../../objects/objects.ts'
import { heldNames } from './resource-quota-rules.ts'

/** The usage of one quota by the objects of one kind, updated on every commit. */
class QuotaAccount {
  readonly #evaluator: QuotaEvaluator
  #quota: ResourceQuota
  #names: readonly string[]
  #stored: ResourceList = {}
  /** Amounts of admitted writes that are not stored yet, by object name. */
  readonly #underWay = new Map<string, Set<ResourceList>>()
  /** The sum of the amounts under way. */
  readonly #expected: ResourceList = {}

  constructor(evaluator: QuotaEvaluator, quota: ResourceQuota, objects: Iterable<KubeObject>) {
    this.#evaluator = evaluator
    this.#quota = quota
    this.#names = heldNames(quota, evaluator)
    this.recount(quota, objects)
  }

  /** True if the account counts the resources that the quota limits now. */
  fits(quota: ResourceQuota): boolean {
    return deepEqual(this.#quota.spec, quota.spec) && deepEqual(this.#names, heldNames(quota, this.#evaluator))
  }

  /** Recomputes the usage from stored objects. */
  recount(quota: ResourceQuota, objects: Iterable<KubeObject>): void {
    this.#quota = quota
    this.#names = heldNames(quota, this.#evaluator)
    this.#stored = {}
    for (const object of objects) addTo(this.#stored, this.#usage(object))
  }

  /** The stored usage plus the amounts under way. */
  total(): ResourceList {
    const total = { ...this.#stored }
    addTo(total, this.#expected)
    return total
  }

  /** Adds the amounts of an admitted write. The `amounts` object identifies the write in `settle`. */
  letIn(name: string, amounts: ResourceList): void {
    let writes = this.#underWay.get(name)
    if (!writes) this.#underWay.set(name, (writes = new Set()))
    writes.add(amounts)
    addTo(this.#expected, amounts)
  }

  /** Removes the amounts of a finished write, stored or not. */
  settle(name: string, amounts: ResourceList): void {
    const writes = this.#underWay.get(name)
    if (!writes?.delete(amounts)) return
    takeFrom(this.#expected, amounts)
    if (writes.size === 0) this.#underWay.delete(name)
  }

  take({ name, object, previous }: ObjectChange): void {
    takeFrom(this.#stored, this.#usage(previous()))
    addTo(this.#stored, this.#usage(object()))
    // The stored object counts from now on. Of several writes of one object only one can succeed.
    for (const amounts of this.#underWay.get(name) ?? []) this.settle(name, amounts)
  }

  /** Excludes objects being deleted. Whether they still count may depend on time, and is in the quota's status. */
  #usage(object: KubeObject | undefined): ResourceList {
    return !object || object.metadata.deletionTimestamp
      ? {}
      : usageOf(this.#quota, this.#names, this.#evaluator, object, 0)
  }
}

/** The accounts of a server, each created on first use. */
export class QuotaAccounts {
  readonly #objects: Objects
  /** Keyed by kind and namespace, then by the quota's uid. */
  readonly #accounts = new Map<string, Map<string, QuotaAccount>>()
  readonly #followed = new Set<string>()

  constructor(objects: Objects) {
    this.#objects = objects
    objects.follow('', 'resourcequotas', ({ namespace, object, previous }) => {
      if (!object()) this.#close(namespace, previous()?.metadata.uid ?? '')
    })
  }

  of(quota: ResourceQuota, group: string, plural: string, evaluator: QuotaEvaluator): QuotaAccount {
    const { namespace = '', uid = '' } = quota.metadata
    const place = placeOf(group, plural, namespace)
    let accounts = this.#accounts.get(place)
    if (!accounts) this.#accounts.set(place, (accounts = new Map()))
    this.#follow(group, plural)
    const known = accounts.get(uid)
    if (known?.fits(quota)) return known
    const objects = this.#objects.list(group, plural, namespace)
    if (known) known.recount(quota, objects)
    const account = known ?? new QuotaAccount(evaluator, quota, objects)
    accounts.set(uid, account)
    return account
  }

  #follow(group: string, plural: string): void {
    const kind = `${group}/${plural}`
    if (this.#followed.has(kind)) return
    this.#followed.add(kind)
    this.#objects.follow(group, plural, (change) => {
      for (const account of this.#accounts.get(placeOf(group, plural, change.namespace))?.values() ?? [])
        account.take(change)
    })
  }

  #close(namespace: string, uid: string): void {
    for (const [place, accounts] of this.#accounts) {
      if (place.endsWith(` ${namespace}`) && accounts.delete(uid) && accounts.size === 0) this.#accounts.delete(place)
    }
  }
}

const placeOf = (group: string, plural: string, namespace: string): string => `${group}/${plural} ${namespace}`
