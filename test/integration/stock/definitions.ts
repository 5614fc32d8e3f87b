/** A definition of OpenKruise's CloneSet that takes any spec and status. */
export const cloneSetDefinition = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'clonesets.apps.kruise.io' },
  spec: {
    group: 'apps.kruise.io',
    scope: 'Namespaced',
    names: { plural: 'clonesets', singular: 'cloneset', kind: 'CloneSet', listKind: 'CloneSetList', shortNames: ['clone'] },
    versions: [{
      name: 'v1alpha1',
      served: true,
      storage: true,
      subresources: { status: {} },
      schema: {
        openAPIV3Schema: {
          type: 'object',
          properties: {
            spec: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
            status: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
          },
        },
      },
    }],
  },
}
