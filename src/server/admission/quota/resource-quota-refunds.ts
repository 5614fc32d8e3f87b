import type { ResourceQuota } from '../../../api/generated/types.ts'
import { addTo, takeFrom } from '../../../api/kinds/quantities/amounts.ts'
import type { ResourceList } from '../../../api/kinds/quantities/resource-names.ts'
import { quantitySign } from '../../../api/numbers/quantity.ts'
import type { Objects } from '../../objects/objects.ts'
import { resourcequotas } from '../../resources/core/resourcequotas.ts'

interface Refund {
  amounts: ResourceList
  done: Promise<void>
}

/** Returns the charges of writes that did not happen. Concurrent refunds of a quota share one write. */
export class QuotaRefunds {
  readonly #objects: Objects
  /** Refunds that are not being written yet, by the quota's uid. */
  readonly #waiting = new Map<string, Refund>()

  constructor(objects: Objects) {
    this.#objects = objects
  }

  /** Never rejects: the quota controller corrects the status if a refund fails. */
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
    await this.#objects
      .update<ResourceQuota>(resourcequotas, namespace, name, refund, { isStatus: true })
      .catch(() => {})
  }
}
