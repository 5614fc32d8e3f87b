import type { ServiceCIDR } from '../../api/generated/types.ts'
import { addFinalizer, finalizersPatch, ipaddresses, removeFinalizer, servicecidrs } from '../../client/index.ts'
import { type Caches, defineController, watching } from '../kit/index.ts'
import { type Action, type Observed, finalizer, hasAddress, plan, statusOf } from './plan.ts'

const isGoing = ({ metadata }: ServiceCIDR): boolean => metadata.deletionTimestamp !== undefined

const nameOf = ({ metadata }: { metadata: { name?: string } }): string => metadata.name ?? ''

/** The ranges that are being deleted, which depend on the other ranges. */
const goingRanges = (caches: Caches): ServiceCIDR[] => caches.of(servicecidrs).list().filter(isGoing)

/** Keeps address ranges of Services while an address depends on them. */
export const serviceCidrController = defineController<ServiceCIDR, Observed, Action>({
  name: 'service-cidr',
  owner: servicecidrs,
  deletion: { isPlanned: true },
  sources: {
    watches: [
      watching(servicecidrs, (_, caches) => goingRanges(caches).map(nameOf)),
      watching(ipaddresses, (address, caches) =>
        goingRanges(caches)
          .filter((cidr) => hasAddress(cidr, nameOf(address)))
          .map(nameOf),
      ),
    ],
  },
  observe({ caches, nowMs }, cidr) {
    const others = caches
      .of(servicecidrs)
      .list()
      .filter((other) => nameOf(other) !== nameOf(cidr) && !isGoing(other))
    const addresses = isGoing(cidr) ? caches.of(ipaddresses).list().map(nameOf) : []
    return { cidr, others, addresses: addresses.filter((address) => hasAddress(cidr, address)), nowMs }
  },
  plan,
  apply: {
    Protect: ({ writer, owner }) =>
      writer.patch(servicecidrs, owner, finalizersPatch(addFinalizer(owner, finalizer)), { type: 'merge' }),
    LetGo: ({ writer, owner }) =>
      writer.patch(servicecidrs, owner, finalizersPatch(removeFinalizer(owner, finalizer)), { type: 'merge' }),
  },
  status: { compute: statusOf },
})
