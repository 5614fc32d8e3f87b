import type { Ingress, IngressClass } from '../../api/generated/types.ts'
import { newestClass } from '../../api/kinds/volumes/storage-classes.ts'
import type { AdmissionPlugin } from './admission.ts'
import { isFor } from './refusal.ts'

const isDefault = ({ metadata }: IngressClass) =>
  metadata.annotations?.['ingressclass.kubernetes.io/is-default-class'] === 'true'

/** Sets the default class on an ingress that names none, neither in its field nor in the legacy annotation. */
export const defaultIngressClass: AdmissionPlugin = {
  name: 'DefaultIngressClass',
  admit(request) {
    if (!isFor(request, 'networking.k8s.io', 'ingresses') || request.operation !== 'CREATE') return
    const { metadata, spec } = request.object as Ingress
    if (spec.ingressClassName !== undefined || metadata.annotations?.['kubernetes.io/ingress.class'] !== undefined)
      return
    const chosen = newestClass(
      request.reader.list<IngressClass>('networking.k8s.io', 'ingressclasses', '').filter(isDefault),
    )
    if (chosen) spec.ingressClassName = chosen.metadata.name!
  },
}
