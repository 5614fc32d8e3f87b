import { type QuotaRequest, evaluatorOf } from '../../api/quota/index.ts'
import type { Objects } from '../objects/objects.ts'
import type { AdmissionPlugin } from './admission.ts'
import { QuotaLine } from './resource-quota-line.ts'

/** One a server. */
const lines = new WeakMap<Objects, QuotaLine>()

function lineOf(objects: Objects): QuotaLine {
  let line = lines.get(objects)
  if (!line) lines.set(objects, (line = new QuotaLine(objects)))
  return line
}

/** Holds what a namespace uses to its quotas, however many ask at the same time. */
export const resourceQuota: AdmissionPlugin = {
  name: 'ResourceQuota',
  reserve(request, objects) {
    const { operation, subresource, resource, namespace, object, old } = request
    if ((operation !== 'CREATE' && operation !== 'UPDATE') || !object || !resource.namespaced || namespace === '') return undefined
    const evaluator = evaluatorOf(resource.group, resource.plural)
    const asked: QuotaRequest = { operation, subresource, object, old }
    if (!evaluator?.concerns(asked)) return undefined
    if (objects.list('', 'resourcequotas', namespace).length === 0) return undefined
    return lineOf(objects).enter(request, asked, evaluator)
  },
}
