// What the core uses of its surroundings beyond the language itself. Everything else (timers, fetch, streams, the
// console) is left out on purpose: without its type it cannot be used by accident.
declare global {
  class TextDecoder {
    constructor(label?: string, options?: { fatal?: boolean; ignoreBOM?: boolean })
    decode(input?: ArrayBufferView | ArrayBuffer, options?: { stream?: boolean }): string
  }
  class TextEncoder {
    encode(input?: string): Uint8Array<ArrayBuffer>
  }
}

export {}
