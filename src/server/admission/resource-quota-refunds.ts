import type { ResourceQuota } from '../../api/generated/types.ts'
import { addTo, takeFrom } from '../../api/kinds/amounts.ts'
import type { ResourceList } from '../../api/kinds/resource-names.ts'
import { quantitySign } from '../../api/quantity.ts'
import type { Objects } from '../objects/objects.ts'
import { resourcequotas } from '../resources/core/resourcequotas.ts'

interface Refund {
  amounts: ResourceList
  done: Promise<void>
}

/** Gives back what was charged for writes that did not happen, in one write for all that come together. */
export class QuotaRefunds {
  readonly #objects: Objects
  /** By the quota's uid, those that are not being written yet. */
  readonly #waiting = new Map<string, Refund>()

  constructor(objects: Objects) {
    this.#objects = objects
  }

  /** Never rejects: what cannot be given back now is found by the controller when it counts. */
  giveBack(quota: ResourceQuota, amounts: ResourceList): Promise<void> {
    const uid = quota.metadata.uid ?? ''
    let refund = this.#waiting.get(uid)
    if (!refund) {
      const next: Refund = { amounts: {}, done: Promise.resolve().then(() => this.#write(quota, next.amounts)) }
      this.#waiting.set(uid, (refund = next))
    }
    addTo(refund.amounts, amounts)
    return refund.done
  }

  async #write(quota: ResourceQuota, amounts: ResourceList): Promise<void> {
    const { namespace = '', name = '', uid = '' } = quota.metadata
    this.#waiting.delete(uid)
    const refund = (copy: ResourceQuota, stored: ResourceQuota): ResourceQuota => {
      if (copy.metadata.uid !== uid) return stored
      const used = { ...copy.status?.used }
      takeFrom(used, amounts)
      for (const key in used) if (quantitySign(used[key]!) < 0) used[key] = '0'
      copy.status = { ...copy.status, used }
      return copy
    }
    await this.#objects.update<ResourceQuota>(resourcequotas, namespace, name, refund).catch(() => {})
  }
}
