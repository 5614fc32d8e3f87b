import type { Service } from '../../api/generated/types.ts'
import { endpointslices, nodes, services } from '../../client/index.ts'
import { type Applier, defineController, watching } from '../kit/index.ts'
import { byNode, keysSelecting, podsByLabel, podsOnNode } from '../kit/workload/index.ts'
import { servicesByPod, watchPods } from '../service-pods.ts'
import { zoneOf } from './slices.ts'
import { type Observed, observe, serviceKeyOf, slicesByService } from './observe.ts'
import { type Action, plan } from './plan.ts'

type Of<K extends Action['kind']> = Extract<Action, { kind: K }>

const telling = <A extends Action>(
  verb: string,
  run: Exclude<Applier<Service, A>, { run: unknown }>,
): Applier<Service, A> => ({
  run,
  failed: ({ message }) => ({
    reason: 'FailedToUpdateEndpointSlices',
    message: `Error updating Endpoint Slices: failed to ${verb} EndpointSlice: ${message}`,
  }),
})

/** Maintains the endpoint slices of services with a selector. */
export const endpointSlice = defineController<Service, Observed, Action>({
  name: 'endpoint-slice',
  owner: services,
  sources: {
    owns: [endpointslices],
    watches: [
      watchPods,
      watching(endpointslices, (slice) => {
        const key = serviceKeyOf(slice)
        return key ? [key] : []
      }),
      // Endpoints contain their zone, and those on an unknown node are omitted.
      watching(
        nodes,
        (node, caches) =>
          podsOnNode(caches, node.metadata.name ?? '').flatMap((pod) => [...keysSelecting(servicesByPod, caches, pod)]),
        (before, after) => zoneOf(before) !== zoneOf(after),
      ),
    ],
    indexes: [podsByLabel, byNode, servicesByPod.index, slicesByService],
  },
  observe,
  timing: { goesThrough: ({ pods }) => pods?.length ?? 0 },
  plan,
  apply: {
    CreateSlice: telling<Of<'CreateSlice'>>('create', ({ writer }, { slice }) => writer.create(endpointslices, slice)),
    UpdateSlice: telling<Of<'UpdateSlice'>>('update', ({ writer }, { slice }) => writer.update(endpointslices, slice)),
    DeleteSlice: telling<Of<'DeleteSlice'>>('delete', ({ writer }, { slice }) => writer.delete(endpointslices, slice)),
  },
})
