/** A question to the standard gRPC health service: one field, the name of the service, in a frame of five bytes and the message. */
export function grpcHealthFrame(service: string): Buffer {
  const name = Buffer.from(service, 'utf8')
  const message = name.length === 0 ? name : Buffer.concat([Buffer.from([0x0a, name.length]), name])
  const frame = Buffer.alloc(5)
  frame.writeUInt32BE(message.length, 1)
  return Buffer.concat([frame, message])
}

/** Whether an answer's first field is 1, SERVING. */
export const isServing = (answer: Buffer): boolean => answer.length >= 7 && answer[5] === 0x08 && answer[6] === 1
