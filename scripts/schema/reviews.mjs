// The answers of webhooks, which Kubernetes' OpenAPI and so its models lack. The parts that are sent are not described.

const field =
  (kind) =>
  (doc, more = {}) => ({ type: { kind }, doc, ...more })
const string = field('string')
const struct = (name, doc) => ({ type: { kind: 'struct', name }, doc, zero: 'keep' })

const head = {
  apiVersion: string('The version of the review.'),
  kind: string('The kind of the review.'),
}
const uid = string('The uid of the request.', { goType: 'types.UID' })

export const reviewTypes = {
  AdmissionReview: {
    goVersion: 'v1',
    doc: 'AdmissionReview is the answer of an admission webhook.',
    fields: { ...head, response: struct('AdmissionResponse', 'The decision.') },
  },
  AdmissionResponse: {
    goVersion: 'v1',
    doc: 'AdmissionResponse is the decision of an admission webhook.',
    fields: {
      uid,
      allowed: { type: { kind: 'boolean' }, doc: 'True if the request is allowed.', zero: 'omit' },
      status: struct('Status', 'The reason of a denial.'),
      patch: { type: { kind: 'bytes' }, doc: 'The changes of the object.', zero: 'omit' },
      patchType: string('The type of the patch.', { goType: 'v1.PatchType', zero: 'keep' }),
      auditAnnotations: { type: { kind: 'map', of: { kind: 'string' } }, doc: 'Annotations for the audit log.' },
      warnings: { type: { kind: 'list', of: { kind: 'string' } }, doc: 'Warnings for the client.' },
    },
  },
  ConversionReview: {
    goVersion: 'v1',
    doc: 'ConversionReview is the answer of a conversion webhook.',
    fields: { ...head, response: struct('ConversionResponse', 'The converted objects.') },
  },
  ConversionResponse: {
    goVersion: 'v1',
    doc: 'ConversionResponse has the objects that a webhook has converted.',
    fields: {
      uid,
      convertedObjects: {
        type: { kind: 'list', of: { kind: 'raw' } },
        doc: 'The objects, in the order of the request.',
      },
      result: struct('Status', 'The result of the conversion.'),
    },
  },
}
