// The examples of the OpenAPI document: one request and one answer for each endpoint. A test holds them against the schemas.

const payer = "0x857b06519E91e3A54538791bDbb0E22373e36b66";
const seller = "0x209693Bc6afc0C5328bA36FaF03C514EF312287C";
const usdc = "0x036CbD53842c5426634e7929541eC2318f3dCF7e";
const hash = "0x5d8fc5c35a5b8f1e8a9a0c0a5a1a7c9be3f1c2d4e5f60718293a4b5c6d7e8f90";
const paymentId = "pay_7WkEoVyS3bWkQrZ9dGqUdx";
const network = "eip155:84532";
const at = 1_767_225_600;

const moved = {
  paymentId,
  status: "confirmed",
  signature: hash,
  network,
  asset: "ETH",
  amount: 0.01,
  amountAtomic: "10000000000000000",
};

const record = {
  ...moved,
  type: "sent",
  sender: payer,
  recipient: seller,
  fee: 0.000021,
  blockHeight: 1200,
  confirmations: 3,
  resource: "https://seller.example/report",
  metadata: { order: "A-17" },
  createdAt: at,
  updatedAt: at + 4,
  history: [
    { status: "created", at },
    { status: "submitted", at: at + 1 },
    { status: "confirmed", at: at + 4 },
  ],
};

const built = {
  success: true,
  paymentId,
  status: "created",
  transaction: "AvGDAUk0gIQ7msoAhDuaygCCUgiUIJaTvGr8DFMou...",
  signatureRequired: true,
  network,
  asset: "ETH",
  amount: 0.01,
  amountAtomic: "10000000000000000",
  sender: payer,
  recipient: seller,
  lastValidBlockHeight: 1230,
  expiresAt: at + 60,
  secret: "0x1b4f0e9851971998e732078544c96b36c3d01cedf7caa332359d6f1d83567014",
  estimatedConfirmation: "2-5 seconds",
};

const order = {
  walletAddress: payer,
  recipientAddress: seller,
  amount: 0.01,
  resource: "https://seller.example/report",
  metadata: { order: "A-17" },
};
const claim = {
  walletAddress: seller,
  paymentProof: "eyJ4NDAyVmVyc2lvbiI6MSwic2NoZW1lIjoiZXhhY3QiLCJuZXR3b3JrIjoiYmFzZS1zZXBvbGlhIn0=",
  expectedAmount: 0.01,
  asset: "USDC",
};
const requirements = {
  scheme: "exact",
  network,
  amount: "10000",
  asset: usdc,
  payTo: seller,
  maxTimeoutSeconds: 60,
  extra: { name: "USDC", version: "2" },
};
const facilitated = {
  x402Version: 2,
  paymentPayload: {
    x402Version: 2,
    accepted: requirements,
    payload: {
      signature: `0x${"5a".repeat(65)}`,
      authorization: {
        from: payer,
        to: seller,
        value: "10000",
        validAfter: "0",
        validBefore: String(at + 60),
        nonce: hash,
      },
    },
  },
  paymentRequirements: requirements,
};

export const EXAMPLES = {
  send: {
    request: { ...order, priorityFee: 0.0001 },
    answer: {
      success: true,
      ...moved,
      sender: payer,
      recipient: seller,
      fee: 0.000021,
      blockHeight: 1200,
      timestamp: at + 4,
      estimatedConfirmation: "2-5 seconds",
      resource: order.resource,
      metadata: order.metadata,
      paymentProof: "eyJ4NDAyVmVyc2lvbiI6MSwic2NoZW1lIjoiZXhhY3QiLCJwYXlsb2FkIjp7fX0=",
    },
  },
  receive: {
    request: { ...claim, timeout: 30 },
    answer: {
      success: true,
      verified: true,
      paymentId,
      status: "confirmed",
      payer,
      recipient: seller,
      amount: 0.01,
      amountAtomic: "10000",
      expectedAmount: 0.01,
      asset: usdc,
      network,
      signature: hash,
      blockHeight: 1200,
      timestamp: at + 4,
      resource: null,
    },
  },
  status: { answer: { success: true, ...record } },
  history: {
    answer: {
      success: true,
      walletAddress: payer,
      payments: [record],
      pagination: { type: "all", limit: 50, offset: 0, total: 1, hasMore: false },
    },
  },
  buildSend: { request: order, answer: built },
  buildReceive: { request: claim, answer: { ...built, secret: null } },
  transaction: {
    id: hash,
    answer: { success: true, network, transaction: "AvGDAUk0gIQ7msoAhDuaygCCUgiUIJaTvGr8DFMou..." },
  },
  verify: { request: facilitated, answer: { isValid: true, payer } },
  settle: { request: facilitated, answer: { success: true, transaction: hash, network, payer } },
  challenge: {
    request: { walletAddress: seller },
    answer: {
      success: true,
      walletAddress: seller,
      message: "The payment gateway https://gateway.example asks you to show that this wallet is yours. …",
      nonce: `${at + 600}-7WkEoVyS3bWkQrZ9dGqUdx`,
      expiresAt: at + 600,
    },
  },
  prove: {
    request: {
      walletAddress: seller,
      nonce: `${at + 600}-7WkEoVyS3bWkQrZ9dGqUdx`,
      signature: `0x${"5d".repeat(64)}1b`,
    },
    answer: { success: true, walletAddress: seller, account: "acc_7WkEoVyS3bWkQrZ9dGqUdx" },
  },
  supported: {
    kinds: [{ x402Version: 2, scheme: "exact", network }],
    extensions: [],
    signers: { "eip155:*": [seller] },
  },
  health: { success: true, status: "ok" },
  ready: { success: true, status: "ready", checks: [{ name: "database", ok: true }] },
} as const;
