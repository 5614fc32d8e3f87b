import { deepEqual } from '../../api/deep-equal.ts'
import type { ResourceQuota } from '../../api/generated/types.ts'
import { addTo, takeFrom } from '../../api/kinds/amounts.ts'
import type { ResourceList } from '../../api/kinds/resource-names.ts'
import type { KubeObject } from '../../api/object.ts'
import { type QuotaEvaluator, usageOf } from '../../api/quota/index.ts'
import type { ObjectChange, Objects } from '../objects/objects.ts'
import { heldNames } from './resource-quota-rules.ts'

/** What objects of one kind use of one quota, kept up with every commit. */
export class QuotaAccount {
  readonly #evaluator: QuotaEvaluator
  #quota: ResourceQuota
  #names: readonly string[]
  #stored: ResourceList = {}
  /** Of writes that are let in and not stored yet, by the name of the object. */
  readonly #underWay = new Map<string, Set<ResourceList>>()
  /** The sum of these. */
  readonly #expected: ResourceList = {}

  constructor(evaluator: QuotaEvaluator, quota: ResourceQuota, objects: Iterable<KubeObject>) {
    this.#evaluator = evaluator
    this.#quota = quota
    this.#names = heldNames(quota, evaluator)
    this.recount(quota, objects)
  }

  /** Whether it counts what the quota holds now. */
  fits(quota: ResourceQuota): boolean {
    return deepEqual(this.#quota.spec, quota.spec) && deepEqual(this.#names, heldNames(quota, this.#evaluator))
  }

  /** Starts again from what is stored. */
  recount(quota: ResourceQuota, objects: Iterable<KubeObject>): void {
    this.#quota = quota
    this.#names = heldNames(quota, this.#evaluator)
    this.#stored = {}
    for (const object of objects) addTo(this.#stored, this.#usage(object))
  }

  /** What is used for certain, with what is about to be. */
  total(): ResourceList {
    const total = { ...this.#stored }
    addTo(total, this.#expected)
    return total
  }

  /** A write of this object may come. `amounts` stand for it, also in `settle`. */
  letIn(name: string, amounts: ResourceList): void {
    let writes = this.#underWay.get(name)
    if (!writes) this.#underWay.set(name, (writes = new Set()))
    writes.add(amounts)
    addTo(this.#expected, amounts)
  }

  /** That write is over, stored or not. */
  settle(name: string, amounts: ResourceList): void {
    const writes = this.#underWay.get(name)
    if (!writes?.delete(amounts)) return
    takeFrom(this.#expected, amounts)
    if (writes.size === 0) this.#underWay.delete(name)
  }

  take({ name, object, previous }: ObjectChange): void {
    takeFrom(this.#stored, this.#usage(previous()))
    addTo(this.#stored, this.#usage(object()))
    // It is in what is stored now. Of several writes of one object only one can succeed: the others will fail.
    for (const amounts of this.#underWay.get(name) ?? []) this.settle(name, amounts)
  }

  /** When an object that is being deleted stops to count is for the status to say: it may depend on time. */
  #usage(object: KubeObject | undefined): ResourceList {
    return !object || object.metadata.deletionTimestamp ? {} : usageOf(this.#quota, this.#names, this.#evaluator, object, 0)
  }
}

/** The accounts of a server, opened when they are first asked for. */
export class QuotaAccounts {
  readonly #objects: Objects
  /** By kind and namespace, then by the quota's uid. */
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
      for (const account of this.#accounts.get(placeOf(group, plural, change.namespace))?.values() ?? []) account.take(change)
    })
  }

  #close(namespace: string, uid: string): void {
    for (const [place, accounts] of this.#accounts) {
      if (place.endsWith(` ${namespace}`) && accounts.delete(uid) && accounts.size === 0) this.#accounts.delete(place)
    }
  }
}

const placeOf = (group: string, plural: string, namespace: string): string => `${group}/${plural} ${namespace}`
